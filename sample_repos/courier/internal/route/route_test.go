package route

import (
	"fmt"
	"math/rand"
	"testing"
	"time"

	"example.com/courier/internal/geo"
	"example.com/courier/internal/parcel"
)

var depot = geo.Point{Lat: 52.5200, Lng: 13.4050}

func startAt(h int) Start {
	return Start{Point: depot, At: time.Date(2026, 3, 2, h, 0, 0, 0, time.UTC), SpeedKmh: 20}
}

// east returns a stop the given number of metres east of the depot.
func east(id string, metres float64) Stop {
	return Stop{
		ParcelID: parcel.ID(id),
		Point:    geo.Point{Lat: depot.Lat, Lng: depot.Lng + metres/67_700},
		Service:  3 * time.Minute,
	}
}

func order(p Plan) string {
	s := ""
	for _, l := range p.Legs {
		s += string(l.ParcelID)
	}
	return s
}

func TestTwoOptUntanglesCrossing(t *testing.T) {
	start := startAt(9)
	tangled := []Stop{east("c", 3000), east("b", 2000), east("a", 1000), east("d", 4000)}
	got := TwoOpt(DefaultCost, start, tangled)
	if order(got) != "abcd" {
		t.Fatalf("order %s", order(got))
	}
}

func TestTwoOptNeverCostsMore(t *testing.T) {
	rnd := rand.New(rand.NewSource(7))
	start := startAt(9)
	for round := 0; round < 30; round++ {
		var stops []Stop
		for i := 0; i < 12; i++ {
			s := east(fmt.Sprint(i), rnd.Float64()*8000-4000)
			s.Point.Lat += rnd.Float64()*0.06 - 0.03
			if rnd.Intn(3) == 0 {
				from := start.At.Add(time.Duration(rnd.Intn(120)) * time.Minute)
				s.Window = Window{From: from, To: from.Add(time.Hour)}
			}
			stops = append(stops, s)
		}
		tour := NearestNeighbour(start, stops)
		before, after := DefaultCost.Evaluate(start, tour), TwoOpt(DefaultCost, start, tour)
		if after.Cost > before.Cost+1e-9 || len(after.Legs) != len(stops) {
			t.Fatalf("round %d: cost %.2f became %.2f", round, before.Cost, after.Cost)
		}
	}
}

func TestWindowPenalty(t *testing.T) {
	nine := startAt(9).At
	w := Window{From: nine, To: nine.Add(time.Hour)}
	m := CostModel{LatePerMin: 2, LateFixed: 10, WaitPerMin: 0.5, Grace: 3 * time.Minute, EscalateMin: 30}
	cases := []struct {
		arrive time.Duration
		want   float64
	}{
		{-20 * time.Minute, 10},
		{30 * time.Minute, 0},
		{63 * time.Minute, 0},
		{70 * time.Minute, 30},
		{100 * time.Minute, 10 + (40+10)*2},
	}
	for _, c := range cases {
		if got := m.WindowPenalty(w, nine.Add(c.arrive)); got != c.want {
			t.Errorf("arrival at +%s costs %.1f, want %.1f", c.arrive, got, c.want)
		}
	}
	if m.WindowPenalty(Window{}, nine) != 0 {
		t.Error("no window, no penalty")
	}
}

func TestInsertKeepsOrderOfOtherStops(t *testing.T) {
	pl := NewPlanner(DefaultCost)
	base := pl.Plan(startAt(9), []Stop{east("a", 1000), east("c", 3000)})
	ins := pl.Insert(base, east("b", 2000))
	if ins.Index != 1 || order(ins.Plan) != "abc" {
		t.Fatalf("index %d, order %s", ins.Index, order(ins.Plan))
	}
	if ins.AddedMetres > 1 {
		t.Fatalf("a stop on the way adds %.1f m", ins.AddedMetres)
	}
}

func TestEstimateArrivalWidensWithStopsAhead(t *testing.T) {
	plan := NewPlanner(DefaultCost).Plan(startAt(9), []Stop{east("a", 1000), east("b", 2000), east("c", 3000)})
	first, ok1 := EstimateArrival(plan, "a")
	last, ok2 := EstimateArrival(plan, "c")
	if !ok1 || !ok2 || last.StopsAhead != 2 {
		t.Fatalf("%+v %+v", first, last)
	}
	if last.To.Sub(last.From) < first.To.Sub(first.From) {
		t.Fatal("the estimate must not get sharper further ahead")
	}
	if _, ok := EstimateArrival(plan, "zz"); ok {
		t.Fatal("unknown parcel has an ETA")
	}
}
