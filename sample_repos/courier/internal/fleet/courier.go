// Package fleet models the people and vehicles that carry parcels.
package fleet

import (
	"errors"
	"fmt"
	"time"

	"example.com/courier/internal/geo"
)

// ErrInvalid wraps every validation failure of a courier record.
var ErrInvalid = errors.New("fleet: invalid courier")

// stalePosition is the age at which a GPS fix is no longer trusted.
const stalePosition = 15 * time.Minute

// Courier is one person on one vehicle for one shift.
type Courier struct {
	ID          string    `json:"id"`
	Name        string    `json:"name"`
	VehicleKind string    `json:"vehicle"`
	Home        geo.Point `json:"home"`
	Position    geo.Point `json:"position"`
	SeenAt      time.Time `json:"seen_at"`
	Shift       Shift     `json:"shift"`
	Rating      float64   `json:"rating"`
	Suspended   bool      `json:"suspended,omitempty"`
}

// Validate checks a courier record before it enters the roster.
func (c *Courier) Validate() error {
	if c.ID == "" {
		return fmt.Errorf("%w: empty id", ErrInvalid)
	}
	if _, err := NewVehicle(c.VehicleKind); err != nil {
		return fmt.Errorf("%w: %v", ErrInvalid, err)
	}
	if c.Rating < 0 || c.Rating > 5 {
		return fmt.Errorf("%w: rating %.1f is not within 0 to 5", ErrInvalid, c.Rating)
	}
	if err := c.Home.Validate(); err != nil {
		return fmt.Errorf("%w: home: %v", ErrInvalid, err)
	}
	if err := c.Shift.Validate(); err != nil {
		return fmt.Errorf("%w: %v", ErrInvalid, err)
	}
	return nil
}

// Vehicle 返回骑手的车辆。入库前已校验过车型；未知车型得到零值，什么也装不下。
func (c *Courier) Vehicle() Vehicle { return vehicles[c.VehicleKind] }

// Whereabouts 返回最近一次定位；定位过期则退回站点位置。
func (c *Courier) Whereabouts(now time.Time) geo.Point {
	if c.SeenAt.IsZero() || now.Sub(c.SeenAt) > stalePosition {
		return c.Home
	}
	return c.Position
}
