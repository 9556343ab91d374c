package route

import (
	"time"

	"example.com/courier/internal/geo"
)

// urgencyHorizon：时间窗在这段时间内关闭的站，会显得“更近”。
const urgencyHorizon = 90 * time.Minute

// NearestNeighbour builds a first tour: always go to the stop that is nearest
// in time, where stops whose window closes soon count as nearer.
func NearestNeighbour(start Start, stops []Stop) []Stop {
	left := append([]Stop(nil), stops...)
	tour := make([]Stop, 0, len(stops))
	here, clock := start.Point, start.At
	for len(left) > 0 {
		best, bestKey := 0, time.Duration(1<<63-1)
		for i, s := range left {
			if key := urgency(here, clock, s, start.SpeedKmh); key < bestKey {
				best, bestKey = i, key
			}
		}
		next := left[best]
		left = append(left[:best], left[best+1:]...)
		arrive := clock.Add(geo.TravelTime(here, next.Point, start.SpeedKmh))
		clock = arrive.Add(next.Window.Wait(arrive) + next.Service)
		here = next.Point
		tour = append(tour, next)
	}
	return tour
}

// urgency 是选下一站的排序键：行驶加等待时间，减去一个折扣；
// 离时间窗关闭越近，折扣越大。
func urgency(here geo.Point, clock time.Time, s Stop, speedKmh float64) time.Duration {
	drive := geo.TravelTime(here, s.Point, speedKmh)
	arrive := clock.Add(drive)
	key := drive + s.Window.Wait(arrive)
	if s.Window.IsZero() {
		return key
	}
	if slack := s.Window.To.Sub(arrive); slack < urgencyHorizon {
		key -= (urgencyHorizon - slack) / 4
	}
	return key
}
