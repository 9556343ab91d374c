// Package geo holds the little spherical geometry the dispatcher needs.
// Distances are metres; nothing here knows about streets.
package geo

import (
	"fmt"
	"math"
	"time"
)

const earthRadiusM = 6371008.8

// DetourFactor 把大圆距离换算成道路里程，由试点城市六周的
// GPS 轨迹统计得出。
const DetourFactor = 1.32

// Point is a WGS84 position in degrees.
type Point struct {
	Lat float64 `json:"lat"`
	Lng float64 `json:"lng"`
}

// Validate rejects positions off the globe, and 0,0, which geocoders return
// for addresses they could not resolve.
func (p Point) Validate() error {
	if math.IsNaN(p.Lat) || math.IsNaN(p.Lng) {
		return fmt.Errorf("geo: position is not a number")
	}
	if p.Lat < -90 || p.Lat > 90 || p.Lng < -180 || p.Lng > 180 {
		return fmt.Errorf("geo: position %.5f,%.5f is out of range", p.Lat, p.Lng)
	}
	if p.Lat == 0 && p.Lng == 0 {
		return fmt.Errorf("geo: position 0,0 looks like a failed geocode")
	}
	return nil
}

// Distance is the haversine great-circle distance in metres.
func Distance(a, b Point) float64 {
	la, lb := radians(a.Lat), radians(b.Lat)
	dLat := lb - la
	dLng := radians(b.Lng - a.Lng)
	h := math.Pow(math.Sin(dLat/2), 2) + math.Cos(la)*math.Cos(lb)*math.Pow(math.Sin(dLng/2), 2)
	// Rounding can push h a hair above one for antipodal points.
	return 2 * earthRadiusM * math.Asin(math.Sqrt(math.Min(1, h)))
}

// RoadDistance estimates the driven metres between two points.
func RoadDistance(a, b Point) float64 {
	return Distance(a, b) * DetourFactor
}

// TravelTime estimates how long the leg takes at the given average speed.
// 速度小于等于零属于配置错误，按一小时计，让这样的骑手在比较中必输而不是必赢。
func TravelTime(a, b Point, speedKmh float64) time.Duration {
	if speedKmh <= 0 {
		return time.Hour
	}
	hours := RoadDistance(a, b) / 1000 / speedKmh
	return time.Duration(hours * float64(time.Hour))
}

func radians(deg float64) float64 { return deg * math.Pi / 180 }
