// Package route orders a courier's stops. It builds a tour with the nearest
// neighbour rule, improves it with 2-opt, and prices it with a cost model that
// adds driving time and penalties for missed time windows.
package route

import (
	"time"

	"example.com/courier/internal/geo"
	"example.com/courier/internal/parcel"
)

// Window is re-exported so that callers of route need not import parcel.
type Window = parcel.Window

// Stop is one delivery of a tour.
type Stop struct {
	ParcelID parcel.ID     `json:"parcel_id"`
	Point    geo.Point     `json:"point"`
	Window   Window        `json:"window"`
	Service  time.Duration `json:"service"`
}

// Start is where and when a tour begins, and how fast it moves.
type Start struct {
	Point    geo.Point
	At       time.Time
	SpeedKmh float64
}

// Leg is a stop with its computed times.
type Leg struct {
	Stop
	Metres  float64       `json:"metres"`
	Arrive  time.Time     `json:"arrive"`
	Wait    time.Duration `json:"wait"`
	Late    time.Duration `json:"late"`
	Depart  time.Time     `json:"depart"`
	Penalty float64       `json:"penalty"`
}

// Plan is a tour with times, total driven metres and total cost.
type Plan struct {
	Start  Start   `json:"-"`
	Legs   []Leg   `json:"legs"`
	Metres float64 `json:"metres"`
	Cost   float64 `json:"cost"`
}

// Stops returns the stops in driving order.
func (p Plan) Stops() []Stop {
	out := make([]Stop, len(p.Legs))
	for i, l := range p.Legs {
		out[i] = l.Stop
	}
	return out
}

// End is when the last stop is done; the start time for an empty plan.
func (p Plan) End() time.Time {
	if len(p.Legs) == 0 {
		return p.Start.At
	}
	return p.Legs[len(p.Legs)-1].Depart
}

// LateStops counts the stops reached after their window closed.
func (p Plan) LateStops() int {
	n := 0
	for _, l := range p.Legs {
		if l.Late > 0 {
			n++
		}
	}
	return n
}

// StopFor describes the delivery of one parcel. Cash takes longer to hand
// over, and heavy parcels have to be carried upstairs in two goes.
func StopFor(p *parcel.Parcel) Stop {
	service := 3 * time.Minute
	if p.CODCents > 0 {
		service += 2 * time.Minute
	}
	if p.WeightG > 15_000 {
		service += 2 * time.Minute
	}
	return Stop{ParcelID: p.ID, Point: p.Dest, Window: p.Window, Service: service}
}
