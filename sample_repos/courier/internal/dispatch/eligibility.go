package dispatch

import (
	"time"

	"example.com/courier/internal/fleet"
	"example.com/courier/internal/parcel"
	"example.com/courier/internal/route"
)

// Rejection says why a courier was not even scored.
type Rejection struct {
	CourierID string `json:"courier_id"`
	Why       string `json:"why"`
}

// maxExtraLate 是派一单最多允许连累的其他收件人数量。
const maxExtraLate = 1

// eligible 检查硬性约束，返回空串表示可以参与打分，否则返回原因。
// 硬约束与打分分开，是为了让“不能派”与“不划算”在调度台上一目了然。
func eligible(c *fleet.Courier, load fleet.Load, p *parcel.Parcel, now time.Time) string {
	v := c.Vehicle()
	switch {
	case c.Suspended:
		return "suspended"
	case !c.Shift.OnDuty(now):
		return "off duty"
	case !load.Plus(loadOf(p)).Fits(v.Capacity):
		return "no room on the " + v.Kind
	case p.CODCents > 0 && !v.CarriesCash:
		return "cannot take cash"
	}
	return ""
}

// feasible checks what only the extended tour shows: it must end within the
// shift and must not make several other stops late.
func feasible(c *fleet.Courier, ins route.Insertion) string {
	if !ins.Plan.End().Before(c.Shift.End) {
		return "tour would outlast the shift"
	}
	if ins.NewlyLate > maxExtraLate {
		return "would delay other deliveries"
	}
	return ""
}

// loadOf is the room one parcel takes.
func loadOf(p *parcel.Parcel) fleet.Load {
	return fleet.Load{WeightG: p.WeightG, VolumeCm3: p.VolumeCm3, Parcels: 1}
}

// totalLoad 汇总骑手手上所有包裹的载重。
func totalLoad(parcels []*parcel.Parcel) fleet.Load {
	var sum fleet.Load
	for _, p := range parcels {
		sum = sum.Plus(loadOf(p))
	}
	return sum
}
