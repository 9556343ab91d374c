package fleet

import (
	"errors"
	"testing"
	"time"

	"example.com/courier/internal/geo"
)

var nine = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

func at(h, m int) time.Time { return time.Date(2026, 3, 2, h, m, 0, 0, time.UTC) }

func TestCourierValidateAndWhereabouts(t *testing.T) {
	depot := geo.Point{Lat: 52.5, Lng: 13.4}
	c := Courier{ID: "c1", VehicleKind: "bike", Home: depot, Shift: Shift{Start: nine, End: at(17, 0)}}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	c.Position, c.SeenAt = geo.Point{Lat: 52.6, Lng: 13.5}, nine
	if c.Whereabouts(at(9, 10)) != c.Position || c.Whereabouts(at(10, 0)) != depot {
		t.Fatal("stale fix is used")
	}
	c.Rating = 7
	if err := c.Validate(); !errors.Is(err, ErrInvalid) {
		t.Fatalf("err = %v", err)
	}
}

func TestShiftRemaining(t *testing.T) {
	s := Shift{Start: nine, End: at(17, 0)}
	for now, want := range map[time.Time]time.Duration{
		at(8, 0): 8 * time.Hour, at(13, 0): 4 * time.Hour, at(17, 0): 0,
	} {
		if got := s.Remaining(now); got != want {
			t.Errorf("Remaining(%s) = %s, want %s", now.Format("15:04"), got, want)
		}
	}
}
