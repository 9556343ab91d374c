package tracking

import (
	"context"
	"errors"
	"testing"
	"time"

	"example.com/courier/internal/dispatch"
	"example.com/courier/internal/fleet"
	"example.com/courier/internal/geo"
	"example.com/courier/internal/parcel"
	"example.com/courier/internal/queue"
	"example.com/courier/internal/route"
	"example.com/courier/internal/store"
)

var (
	ctx   = context.Background()
	depot = geo.Point{Lat: 52.52, Lng: 13.405}
)

func newService(t *testing.T) (*Service, *time.Time) {
	t.Helper()
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	st := store.NewMemory()
	d := dispatch.New(st, route.NewPlanner(route.DefaultCost), &dispatch.WeightedScorer{Weights: dispatch.DefaultWeights}, nil, clock)
	q := queue.New(queue.DefaultRetry, nil)
	q.Handle(dispatch.AssignKind, dispatch.AssignHandler(d))
	c := &fleet.Courier{ID: "c1", VehicleKind: "van", Home: depot, Shift: fleet.Shift{Start: now, End: now.Add(9 * time.Hour)}}
	if err := st.PutCourier(ctx, c); err != nil {
		t.Fatal(err)
	}
	s := &Service{Store: st, Dispatcher: d, Queue: q, Now: clock}
	p := parcel.Parcel{ID: "P1", Dest: geo.Point{Lat: 52.53, Lng: 13.41}, WeightG: 700, VolumeCm3: 2000}
	if _, err := s.Announce(ctx, p); err != nil {
		t.Fatal(err)
	}
	return s, &now
}

func record(t *testing.T, s *Service, scan Scan) *parcel.Parcel {
	t.Helper()
	p, err := s.Record(ctx, "P1", scan)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestThirdFailureReturnsTheParcel(t *testing.T) {
	s, now := newService(t)
	var p *parcel.Parcel
	for i := 0; i < parcel.MaxAttempts; i++ {
		record(t, s, Scan{State: parcel.Sorted})
		s.Queue.RunDue(ctx, *now)
		record(t, s, Scan{State: parcel.OutForDelivery, CourierID: "c1"})
		p = record(t, s, Scan{State: parcel.Failed, CourierID: "c1", Note: "nobody home"})
		*now = now.Add(time.Hour)
	}
	if p.State != parcel.Returned {
		t.Fatalf("parcel is %s after %d attempts", p.State, p.Attempts)
	}
}

func TestScanByWrongCourierAndRepeatedScan(t *testing.T) {
	s, now := newService(t)
	record(t, s, Scan{State: parcel.Sorted})
	record(t, s, Scan{State: parcel.Sorted})
	s.Queue.RunDue(ctx, *now)
	_, err := s.Record(ctx, "P1", Scan{State: parcel.OutForDelivery, CourierID: "c2"})
	if !errors.Is(err, ErrWrongCourier) {
		t.Fatalf("err = %v", err)
	}
	if _, err := s.Record(ctx, "P1", Scan{State: parcel.Assigned}); !errors.Is(err, parcel.ErrInvalid) {
		t.Fatalf("manual assignment: %v", err)
	}
}
