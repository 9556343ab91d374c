// Package httpapi exposes the dispatcher and the tracking service over HTTP.
package httpapi

import (
	"log"
	"net/http"
	"strings"

	"example.com/courier/internal/dispatch"
	"example.com/courier/internal/metrics"
	"example.com/courier/internal/queue"
	"example.com/courier/internal/store"
	"example.com/courier/internal/tracking"
)

// Server holds what the handlers need.
type Server struct {
	Tracking   *tracking.Service
	Dispatcher *dispatch.Dispatcher
	Couriers   store.Couriers
	Queue      *queue.Queue
	Metrics    *metrics.Registry
	Token      string
	Logger     *log.Logger
}

// Handler returns the complete handler: routes inside middleware.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	mux.HandleFunc("/metrics", s.metrics)
	mux.Handle("/v1/", requireToken(s.Token, http.HandlerFunc(s.route)))
	return accessLog(s.Logger, s.Metrics, mux)
}

// endpoint handles one route; the error it returns is rendered by writeError.
type endpoint func(w http.ResponseWriter, r *http.Request, id string) error

// route dispatches "/v1/<collection>[/<id>[/<action>]]" by method.
func (s *Server) route(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(strings.TrimPrefix(r.URL.Path, "/v1/"), "/"), "/")
	id, action := "", ""
	if len(parts) > 1 {
		id = parts[1]
	}
	if len(parts) > 2 {
		action = "/" + parts[2]
	}
	shape := parts[0]
	if id != "" {
		shape += "/*"
	}
	methods := s.routes()[shape+action]
	if methods == nil || len(parts) > 3 {
		writeProblem(w, http.StatusNotFound, "no such resource")
		return
	}
	h, ok := methods[r.Method]
	if !ok {
		writeProblem(w, http.StatusMethodNotAllowed, "method not allowed")
		return
	}
	if err := h(w, r, id); err != nil {
		s.writeError(w, r, err)
	}
}

func (s *Server) routes() map[string]map[string]endpoint {
	return map[string]map[string]endpoint{
		"parcels":              {http.MethodPost: s.announce},
		"parcels/*":            {http.MethodGet: s.status},
		"parcels/*/scans":      {http.MethodPost: s.scan},
		"parcels/*/assign":     {http.MethodPost: s.assign},
		"parcels/*/candidates": {http.MethodGet: s.candidates},
		"couriers/*":           {http.MethodPut: s.putCourier},
		"couriers/*/route":     {http.MethodGet: s.courierRoute},
		"jobs":                 {http.MethodGet: s.deadJobs},
	}
}
