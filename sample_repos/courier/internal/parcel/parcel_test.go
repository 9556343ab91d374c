package parcel

import (
	"errors"
	"testing"
	"time"

	"example.com/courier/internal/geo"
)

var t0 = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

func draft() Parcel {
	return Parcel{ID: "P1", Dest: geo.Point{Lat: 52.5, Lng: 13.4}, WeightG: 900, VolumeCm3: 4000}
}

func mustNew(t *testing.T) *Parcel {
	t.Helper()
	p, err := New(draft(), t0)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestNewRejectsBadDrafts(t *testing.T) {
	cases := map[string]func(*Parcel){
		"no id":         func(p *Parcel) { p.ID = "" },
		"too heavy":     func(p *Parcel) { p.WeightG = MaxWeightG + 1 },
		"no position":   func(p *Parcel) { p.Dest = geo.Point{} },
		"narrow window": func(p *Parcel) { p.Window = Window{t0, t0.Add(time.Minute)} },
		"past window":   func(p *Parcel) { p.Window = Window{t0.Add(-3 * time.Hour), t0.Add(-time.Hour)} },
	}
	for name, mutate := range cases {
		d := draft()
		mutate(&d)
		if _, err := New(d, t0); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: err = %v", name, err)
		}
	}
}

func TestIllegalTransitionLeavesParcelAlone(t *testing.T) {
	p := mustNew(t)
	_, err := p.Transition(Step{To: Delivered, At: t0})
	var te *TransitionError
	if !errors.As(err, &te) || te.From != Created {
		t.Fatalf("err = %v", err)
	}
	if p.State != Created {
		t.Fatalf("state changed to %s", p.State)
	}
}

func TestTimelineHidesInternalSteps(t *testing.T) {
	events := []Event{
		{Seq: 1, To: Created, At: t0},
		{Seq: 2, To: Sorted, At: t0.Add(time.Hour)},
		{Seq: 3, To: Assigned, At: t0.Add(2 * time.Hour)},
		{Seq: 4, To: OutForDelivery, At: t0.Add(3 * time.Hour)},
	}
	got := Timeline(events)
	if len(got) != 3 || got[0].Text != "Out for delivery" || got[2].Text != "Shipment announced" {
		t.Fatalf("timeline %+v", got)
	}
}
