package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"

	"example.com/courier/internal/fleet"
	"example.com/courier/internal/parcel"
	"example.com/courier/internal/tracking"
)

// maxBody 对单个包裹绰绰有余，又能防止出错的客户端撑爆内存。
const maxBody = 64 << 10

func (s *Server) announce(w http.ResponseWriter, r *http.Request, _ string) error {
	var draft parcel.Parcel
	if err := readJSON(w, r, &draft); err != nil {
		return err
	}
	p, err := s.Tracking.Announce(r.Context(), draft)
	if err != nil {
		return err
	}
	w.Header().Set("Location", "/v1/parcels/"+string(p.ID))
	return writeJSON(w, http.StatusCreated, p)
}

func (s *Server) status(w http.ResponseWriter, r *http.Request, id string) error {
	st, err := s.Tracking.Status(r.Context(), parcel.ID(id))
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, st)
}

func (s *Server) scan(w http.ResponseWriter, r *http.Request, id string) error {
	var scan tracking.Scan
	if err := readJSON(w, r, &scan); err != nil {
		return err
	}
	p, err := s.Tracking.Record(r.Context(), parcel.ID(id), scan)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, p)
}

// assign runs the dispatcher right away instead of waiting for the queue.
func (s *Server) assign(w http.ResponseWriter, r *http.Request, id string) error {
	a, err := s.Dispatcher.Assign(r.Context(), parcel.ID(id))
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, a)
}

func (s *Server) candidates(w http.ResponseWriter, r *http.Request, id string) error {
	scores, rejected, err := s.Dispatcher.Explain(r.Context(), parcel.ID(id))
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, map[string]interface{}{"scores": scores, "rejected": rejected})
}

func (s *Server) putCourier(w http.ResponseWriter, r *http.Request, id string) error {
	var c fleet.Courier
	if err := readJSON(w, r, &c); err != nil {
		return err
	}
	if c.ID != "" && c.ID != id {
		return fmt.Errorf("%w: id in path and body differ", errBadRequest)
	}
	c.ID = id
	if err := c.Validate(); err != nil {
		return err
	}
	if err := s.Couriers.PutCourier(r.Context(), &c); err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, c)
}

func (s *Server) courierRoute(w http.ResponseWriter, r *http.Request, id string) error {
	plan, err := s.Dispatcher.PlanFor(r.Context(), id)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, plan)
}

func (s *Server) deadJobs(w http.ResponseWriter, _ *http.Request, _ string) error {
	return writeJSON(w, http.StatusOK, map[string]interface{}{"waiting": s.Queue.Len(), "dead": s.Queue.Dead()})
}

func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	_, _ = s.Metrics.WriteTo(w)
}

func readJSON(w http.ResponseWriter, r *http.Request, dst interface{}) error {
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	dec.DisallowUnknownFields()
	if err := dec.Decode(dst); err != nil {
		return fmt.Errorf("%w: %v", errBadRequest, err)
	}
	return nil
}

func writeJSON(w http.ResponseWriter, status int, v interface{}) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n'))
	return nil
}
