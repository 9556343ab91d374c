package route

import (
	"math"
	"time"

	"example.com/courier/internal/parcel"
)

// ETA is the expected arrival as an interval, since a single instant would
// promise more than the estimate can keep.
type ETA struct {
	From       time.Time `json:"from"`
	To         time.Time `json:"to"`
	StopsAhead int       `json:"stops_ahead"`
	Late       bool      `json:"late"`
}

// 预计到达区间的宽度：从 baseSpread 起，随前方站数的平方根增长，
// 因为各站的延误大致相互独立。
const (
	baseSpread = 4 * time.Minute
	roundTo    = 5 * time.Minute
)

// EstimateArrival finds the parcel in the plan and returns its arrival
// interval, rounded outwards to five minutes. The interval never starts before
// the promised window, because the courier would wait. The second result is
// false when the parcel is not in the plan.
func EstimateArrival(p Plan, id parcel.ID) (ETA, bool) {
	for i, leg := range p.Legs {
		if leg.ParcelID != id {
			continue
		}
		begin := leg.Arrive.Add(leg.Wait)
		spread := time.Duration(float64(baseSpread) * math.Sqrt(float64(i+1)))
		eta := ETA{
			From:       begin.Add(-spread / 2).Truncate(roundTo),
			To:         begin.Add(spread + roundTo - 1).Truncate(roundTo),
			StopsAhead: i,
			Late:       leg.Late > 0,
		}
		if !leg.Window.IsZero() && eta.From.Before(leg.Window.From) {
			eta.From = leg.Window.From
		}
		if eta.From.Before(p.Start.At) {
			eta.From = p.Start.At
		}
		return eta, true
	}
	return ETA{}, false
}
