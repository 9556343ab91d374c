package route

import (
	"math"
	"time"

	"example.com/courier/internal/geo"
)

// CostModel prices a tour in minutes: a minute driven costs one, and the other
// figures say how many driven minutes a violation is worth.
type CostModel struct {
	LatePerMin  float64       `json:"late_per_min"` // for each minute after the window closed
	LateFixed   float64       `json:"late_fixed"`   // once per missed window, however small the miss
	WaitPerMin  float64       `json:"wait_per_min"` // for each minute stood before the window opens
	EscalateMin float64       `json:"escalate_min"` // minutes after which lateness counts double
	Grace       time.Duration `json:"-"`            // lateness that recipients do not notice
}

// DefaultCost was tuned against dispatchers' manual corrections.
var DefaultCost = CostModel{
	LatePerMin: 2.5, LateFixed: 8, WaitPerMin: 0.4,
	Grace: 3 * time.Minute, EscalateMin: 30,
}

// WindowPenalty is the price of arriving at a stop at the given time: early
// arrivals pay for waiting, and arrivals after the window closed pay a fixed
// amount plus a rate per minute that doubles after EscalateMin. Lateness within
// the grace period is free.
func (m CostModel) WindowPenalty(w Window, arrive time.Time) float64 {
	if wait := w.Wait(arrive); wait > 0 {
		return wait.Minutes() * m.WaitPerMin
	}
	late := w.Lateness(arrive)
	if late <= m.Grace {
		return 0
	}
	minutes := late.Minutes()
	over := math.Max(0, minutes-m.EscalateMin)
	return m.LateFixed + (minutes+over)*m.LatePerMin
}

// Evaluate walks the stops in the given order and returns the timed, priced
// plan. A courier who is early waits until the window opens.
func (m CostModel) Evaluate(start Start, stops []Stop) Plan {
	plan := Plan{Start: start, Legs: make([]Leg, 0, len(stops))}
	here, clock := start.Point, start.At
	for _, s := range stops {
		drive := geo.TravelTime(here, s.Point, start.SpeedKmh)
		leg := Leg{Stop: s, Metres: geo.RoadDistance(here, s.Point), Arrive: clock.Add(drive)}
		leg.Wait = s.Window.Wait(leg.Arrive)
		leg.Late = s.Window.Lateness(leg.Arrive)
		leg.Depart = leg.Arrive.Add(leg.Wait + s.Service)
		leg.Penalty = m.WindowPenalty(s.Window, leg.Arrive)
		plan.Legs = append(plan.Legs, leg)
		plan.Metres += leg.Metres
		plan.Cost += drive.Minutes() + leg.Penalty
		here, clock = s.Point, leg.Depart
	}
	return plan
}
