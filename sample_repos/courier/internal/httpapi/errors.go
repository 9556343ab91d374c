package httpapi

import (
	"errors"
	"net/http"

	"example.com/courier/internal/dispatch"
	"example.com/courier/internal/fleet"
	"example.com/courier/internal/parcel"
	"example.com/courier/internal/store"
	"example.com/courier/internal/tracking"
)

var errBadRequest = errors.New("bad request")

// statusOf 把领域错误映射为 HTTP 状态码。
func statusOf(err error) int {
	var te *parcel.TransitionError
	switch {
	case errors.Is(err, errBadRequest), errors.Is(err, parcel.ErrInvalid), errors.Is(err, fleet.ErrInvalid):
		return http.StatusBadRequest
	case errors.Is(err, tracking.ErrWrongCourier):
		return http.StatusForbidden
	case errors.Is(err, dispatch.ErrNotFound):
		return http.StatusNotFound
	case errors.Is(err, dispatch.ErrConflict), errors.Is(err, store.ErrExists), errors.As(err, &te):
		return http.StatusConflict
	case errors.Is(err, dispatch.ErrNoCourier):
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// writeError renders a domain error. Internal errors are logged in full but
// not shown to the client.
func (s *Server) writeError(w http.ResponseWriter, r *http.Request, err error) {
	status := statusOf(err)
	if status == http.StatusInternalServerError {
		s.Logger.Printf("%s %s: %v", r.Method, r.URL.Path, err)
		writeProblem(w, status, "internal error")
		return
	}
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "30")
	}
	writeProblem(w, status, err.Error())
}

func writeProblem(w http.ResponseWriter, status int, detail string) {
	_ = writeJSON(w, status, map[string]interface{}{"status": status, "detail": detail})
}
