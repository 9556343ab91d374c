package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"example.com/courier/internal/fleet"
	"example.com/courier/internal/geo"
	"example.com/courier/internal/parcel"
)

var (
	ctx = context.Background()
	t0  = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
)

func newParcel(t *testing.T, id parcel.ID) *parcel.Parcel {
	t.Helper()
	p, err := parcel.New(parcel.Parcel{ID: id, Dest: geo.Point{Lat: 52.5, Lng: 13.4}, WeightG: 500, VolumeCm3: 900}, t0)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func sortIn(t *testing.T, s Store, id parcel.ID) {
	t.Helper()
	p, err := s.Parcel(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	ev, err := p.Transition(parcel.Step{To: parcel.Sorted, At: t0.Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.SaveParcel(ctx, p, ev); err != nil {
		t.Fatal(err)
	}
}

func TestMemoryDetectsConflict(t *testing.T) {
	s := NewMemory()
	if err := s.CreateParcel(ctx, newParcel(t, "P1")); err != nil {
		t.Fatal(err)
	}
	if err := s.CreateParcel(ctx, newParcel(t, "P1")); !errors.Is(err, ErrExists) {
		t.Fatalf("second create: %v", err)
	}
	stale, _ := s.Parcel(ctx, "P1")
	sortIn(t, s, "P1")
	if err := s.SaveParcel(ctx, stale); !errors.Is(err, ErrConflict) {
		t.Fatalf("stale save: %v", err)
	}
}

func TestFileSurvivesReopen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "courier.log")
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.CreateParcel(ctx, newParcel(t, "P1")); err != nil {
		t.Fatal(err)
	}
	sortIn(t, s, "P1")
	if err := s.PutCourier(ctx, &fleet.Courier{ID: "c1", Rating: 4}); err != nil {
		t.Fatal(err)
	}
	s.Close()

	s, err = Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	p, err := s.Parcel(ctx, "P1")
	if err != nil || p.State != parcel.Sorted || p.Version != 2 {
		t.Fatalf("%+v, %v", p, err)
	}
	events, _ := s.EventsOf(ctx, "P1")
	if len(events) != 2 || events[1].Seq != 2 {
		t.Fatalf("events %+v", events)
	}
	if _, err := s.Courier(ctx, "c1"); err != nil {
		t.Fatal(err)
	}
}

func TestFileCutsTornTail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "courier.log")
	s, _ := Open(path)
	_ = s.CreateParcel(ctx, newParcel(t, "P1"))
	s.Close()
	intact, _ := os.ReadFile(path)
	_ = os.WriteFile(path, append(intact, `0badc0de {"p":{"id`...), 0o644)

	s, _ = Open(path)
	sortIn(t, s, "P1")
	s.Close()
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if p, _ := s.Parcel(ctx, "P1"); p.State != parcel.Sorted {
		t.Fatal("write after the cut is lost")
	}
}

func TestFileRefusesDamageInTheMiddle(t *testing.T) {
	path := filepath.Join(t.TempDir(), "courier.log")
	_ = os.WriteFile(path, []byte("00000000 {}\n00000000 {}\n"), 0o644)
	if _, err := Open(path); !errors.Is(err, errCorrupt) {
		t.Fatalf("err = %v", err)
	}
}
