package dispatch

import (
	"context"
	"errors"
	"testing"
	"time"

	"example.com/courier/internal/fleet"
	"example.com/courier/internal/geo"
	"example.com/courier/internal/metrics"
	"example.com/courier/internal/parcel"
	"example.com/courier/internal/queue"
	"example.com/courier/internal/route"
	"example.com/courier/internal/store"
)

var (
	ctx   = context.Background()
	now   = time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	depot = geo.Point{Lat: 52.5200, Lng: 13.4050}
)

type world struct {
	*Dispatcher
	store *store.Memory
	reg   *metrics.Registry
}

func newWorld() world {
	s, reg := store.NewMemory(), metrics.New()
	d := New(s, route.NewPlanner(route.DefaultCost), &WeightedScorer{Weights: DefaultWeights}, reg, func() time.Time { return now })
	return world{d, s, reg}
}

func (w world) courier(t *testing.T, id string, mutate func(*fleet.Courier)) {
	t.Helper()
	c := &fleet.Courier{
		ID: id, VehicleKind: "scooter", Home: depot, Position: depot, SeenAt: now, Rating: 4.5,
		Shift: fleet.Shift{Start: now.Add(-2 * time.Hour), End: now.Add(6 * time.Hour)},
	}
	if mutate != nil {
		mutate(c)
	}
	if err := w.store.PutCourier(ctx, c); err != nil {
		t.Fatal(err)
	}
}

func (w world) sorted(t *testing.T, id parcel.ID, mutate func(*parcel.Parcel)) *parcel.Parcel {
	t.Helper()
	p := &parcel.Parcel{ID: id, Dest: north(1000), WeightG: 800, VolumeCm3: 3000, State: parcel.Sorted, UpdatedAt: now}
	if mutate != nil {
		mutate(p)
	}
	if err := w.store.CreateParcel(ctx, p); err != nil {
		t.Fatal(err)
	}
	return p
}

func north(metres float64) geo.Point {
	return geo.Point{Lat: depot.Lat + metres/111_200, Lng: depot.Lng}
}

func TestAssignPicksTheCourierNearby(t *testing.T) {
	w := newWorld()
	w.courier(t, "far", func(c *fleet.Courier) { c.Position = north(-6000) })
	w.courier(t, "near", func(c *fleet.Courier) { c.Position = north(700) })
	w.sorted(t, "P1", nil)
	a, err := w.Assign(ctx, "P1")
	if err != nil || a.CourierID != "near" {
		t.Fatalf("%+v, %v", a, err)
	}
	p, _ := w.store.Parcel(ctx, "P1")
	if p.State != parcel.Assigned || p.CourierID != "near" {
		t.Fatalf("stored %+v", p)
	}
	if w.reg.Value("courier_assignments_total", "result", "ok") != 1 {
		t.Fatal("assignment is not counted")
	}
	if a.ETA.From.Before(now) || !a.ETA.To.After(a.ETA.From) {
		t.Fatalf("ETA %+v", a.ETA)
	}
}

func TestHardConstraintsRejectWithReason(t *testing.T) {
	w := newWorld()
	w.courier(t, "a-off", func(c *fleet.Courier) { c.Shift.End = now })
	w.courier(t, "b-sick", func(c *fleet.Courier) { c.Suspended = true })
	w.courier(t, "c-bike", func(c *fleet.Courier) { c.VehicleKind = "bike" })
	w.courier(t, "d-late", func(c *fleet.Courier) { c.Shift.End = now.Add(4 * time.Minute) })
	w.sorted(t, "P1", func(p *parcel.Parcel) { p.CODCents = 2500 })
	scores, rejected, err := w.Explain(ctx, "P1")
	if err != nil || len(scores) != 0 {
		t.Fatalf("%v, %v", scores, err)
	}
	want := []Rejection{
		{"a-off", "off duty"}, {"b-sick", "suspended"}, {"c-bike", "cannot take cash"},
		{"d-late", "tour would outlast the shift"},
	}
	for i, r := range want {
		if rejected[i] != r {
			t.Errorf("rejection %d is %v, want %v", i, rejected[i], r)
		}
	}
	if _, err := w.Assign(ctx, "P1"); !errors.Is(err, ErrNoCourier) {
		t.Fatalf("err = %v", err)
	}
}

func TestLatePenaltyCountsOnlyNewLateness(t *testing.T) {
	c := Candidate{Insertion: route.Insertion{AddedPenalty: -4, NewlyLate: 0}}
	if got := latePenalty(c); got != 0 {
		t.Fatalf("a helpful insertion is fined %.2f", got)
	}
	c.Insertion = route.Insertion{AddedPenalty: 30, NewlyLate: 1}
	if got := latePenalty(c); got != 0.75 {
		t.Fatalf("latePenalty = %.2f", got)
	}
}

func TestAssignJobRetriesAndExpires(t *testing.T) {
	w := newWorld()
	q := queue.New(queue.DefaultRetry, nil)
	q.Handle(AssignKind, AssignHandler(w.Dispatcher))
	p := w.sorted(t, "P1", func(p *parcel.Parcel) {
		p.Window = parcel.Window{From: now, To: now.Add(40 * time.Minute)}
	})
	EnqueueAssign(q, p, now)
	q.RunDue(ctx, now)
	if q.Len() != 1 {
		t.Fatal("no retry while nobody is free")
	}
	q.RunDue(ctx, now.Add(19*time.Minute+50*time.Second))
	dead := q.Dead()
	if len(dead) != 1 || dead[0].Stopped != queue.StopExpired {
		t.Fatalf("dead %+v", dead)
	}
}

func TestRetriedCourierLosesToNewFace(t *testing.T) {
	w := newWorld()
	w.courier(t, "a-tried", nil)
	w.courier(t, "b-fresh", func(c *fleet.Courier) { c.Position = north(-300) })
	w.sorted(t, "P1", func(p *parcel.Parcel) { p.TriedBy = []string{"a-tried"} })
	if a, err := w.Assign(ctx, "P1"); err != nil || a.CourierID != "b-fresh" {
		t.Fatalf("%+v, %v", a, err)
	}
}
