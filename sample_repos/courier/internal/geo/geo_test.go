package geo

import (
	"math"
	"testing"
)

func TestDistanceKnownPair(t *testing.T) {
	berlin := Point{52.5200, 13.4050}
	potsdam := Point{52.3906, 13.0645}
	got := Distance(berlin, potsdam)
	if math.Abs(got-27200) > 300 {
		t.Fatalf("Distance = %.0f m, want about 27200", got)
	}
	if back := Distance(potsdam, berlin); math.Abs(got-back) > 1e-6 {
		t.Fatalf("distance is not symmetric: %f and %f", got, back)
	}
}

func TestValidateRejectsFailedGeocode(t *testing.T) {
	for _, p := range []Point{{0, 0}, {91, 10}, {10, -181}, {math.NaN(), 1}} {
		if p.Validate() == nil {
			t.Errorf("%v passed validation", p)
		}
	}
}
