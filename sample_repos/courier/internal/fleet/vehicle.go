package fleet

import "fmt"

// Load is a quantity of goods, or the room for it.
type Load struct {
	WeightG   int
	VolumeCm3 int
	Parcels   int
}

// Plus adds two loads.
func (l Load) Plus(o Load) Load {
	return Load{l.WeightG + o.WeightG, l.VolumeCm3 + o.VolumeCm3, l.Parcels + o.Parcels}
}

// Fits reports whether the load stays within a capacity in every dimension.
func (l Load) Fits(capacity Load) bool { return l.FillRatio(capacity) <= 1 }

// FillRatio 返回重量、体积、件数三者中最紧张的装载率，1 表示装满。
func (l Load) FillRatio(capacity Load) float64 {
	ratio := float64(l.WeightG) / float64(capacity.WeightG)
	if r := float64(l.VolumeCm3) / float64(capacity.VolumeCm3); r > ratio {
		ratio = r
	}
	if r := float64(l.Parcels) / float64(capacity.Parcels); r > ratio {
		ratio = r
	}
	return ratio
}

// Vehicle 是骑手的交通工具。速度是门到门的平均值，已含等红灯的时间。
type Vehicle struct {
	Kind        string
	SpeedKmh    float64
	Capacity    Load
	CarriesCash bool // has a safe or a box that locks
}

var vehicles = map[string]Vehicle{
	"bike":    {"bike", 13, Load{60_000, 200_000, 30}, false},
	"scooter": {"scooter", 21, Load{35_000, 120_000, 20}, true},
	"van":     {"van", 24, Load{700_000, 4_000_000, 140}, true},
}

// NewVehicle returns the vehicle of the given kind with fleet-wide figures.
func NewVehicle(kind string) (Vehicle, error) {
	v, ok := vehicles[kind]
	if !ok {
		return Vehicle{}, fmt.Errorf("fleet: unknown vehicle %q", kind)
	}
	return v, nil
}
