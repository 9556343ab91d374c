package httpapi

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"example.com/courier/internal/dispatch"
	"example.com/courier/internal/metrics"
	"example.com/courier/internal/queue"
	"example.com/courier/internal/route"
	"example.com/courier/internal/store"
	"example.com/courier/internal/tracking"
)

const courierBody = `{"vehicle":"van","home":{"lat":52.52,"lng":13.405},"rating":4.6,
	"shift":{"start":"2026-03-02T08:00:00Z","end":"2026-03-02T17:00:00Z"}}`

const parcelBody = `{"id":"P1","recipient":"R. Weiss","dest":{"lat":52.53,"lng":13.41},
	"weight_g":1200,"volume_cm3":6000}`

func newServer(token string) http.Handler {
	now := func() time.Time { return time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC) }
	st, reg := store.NewMemory(), metrics.New()
	d := dispatch.New(st, route.NewPlanner(route.DefaultCost), &dispatch.WeightedScorer{Weights: dispatch.DefaultWeights}, reg, now)
	q := queue.New(queue.DefaultRetry, reg)
	s := &Server{
		Tracking:   &tracking.Service{Store: st, Dispatcher: d, Queue: q, Metrics: reg, Now: now},
		Dispatcher: d, Couriers: st, Queue: q, Metrics: reg,
		Token: token, Logger: log.New(io.Discard, "", 0),
	}
	return s.Handler()
}

func call(h http.Handler, method, path, body string) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequest(method, path, strings.NewReader(body)))
	return rec
}

func expect(t *testing.T, rec *httptest.ResponseRecorder, status int, part string) {
	t.Helper()
	if rec.Code != status || !strings.Contains(rec.Body.String(), part) {
		t.Fatalf("got %d %s, want %d with %q", rec.Code, rec.Body, status, part)
	}
}

func TestParcelJourneyOverHTTP(t *testing.T) {
	h := newServer("")
	expect(t, call(h, "PUT", "/v1/couriers/c1", courierBody), 200, `"id":"c1"`)
	expect(t, call(h, "POST", "/v1/parcels", parcelBody), 201, `"state":"created"`)
	expect(t, call(h, "POST", "/v1/parcels/P1/assign", ""), 409, "cannot go from created")
	expect(t, call(h, "POST", "/v1/parcels/P1/scans", `{"state":"sorted"}`), 200, "sorted")
	expect(t, call(h, "GET", "/v1/parcels/P1/candidates", ""), 200, `"proximity"`)
	expect(t, call(h, "POST", "/v1/parcels/P1/assign", ""), 200, `"courier_id":"c1"`)
	expect(t, call(h, "GET", "/v1/parcels/P1", ""), 200, `"stops_ahead":0`)
	expect(t, call(h, "GET", "/v1/couriers/c1/route", ""), 200, `"parcel_id":"P1"`)
	expect(t, call(h, "GET", "/v1/jobs", ""), 200, `"waiting":1`)
	expect(t, call(h, "GET", "/metrics", ""), 200, "courier_http_requests_total")
}

func TestErrorsBecomeProblems(t *testing.T) {
	h := newServer("")
	expect(t, call(h, "GET", "/v1/parcels/none", ""), 404, "not found")
	expect(t, call(h, "POST", "/v1/parcels", `{"id":"x","colour":"red"}`), 400, "colour")
	expect(t, call(h, "POST", "/v1/parcels", `{"id":"x"}`), 400, "weight")
	expect(t, call(h, "DELETE", "/v1/parcels/P1", ""), 405, "method")
	expect(t, call(h, "GET", "/v1/planets", ""), 404, "no such resource")
	call(h, "POST", "/v1/parcels", parcelBody)
	call(h, "POST", "/v1/parcels/P1/scans", `{"state":"sorted"}`)
	rec := call(h, "POST", "/v1/parcels/P1/assign", "")
	expect(t, rec, 503, "no eligible courier")
	if rec.Header().Get("Retry-After") == "" {
		t.Fatal("no Retry-After")
	}
}

func TestTokenIsRequired(t *testing.T) {
	h := newServer("s3cret")
	expect(t, call(h, "GET", "/v1/jobs", ""), 401, "token")
	expect(t, call(h, "GET", "/healthz", ""), 200, "ok")
	req := httptest.NewRequest("GET", "/v1/jobs", nil)
	req.Header.Set("Authorization", "Bearer s3cret")
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, req)
	expect(t, rec, 200, "waiting")
}
