// Package parcel is the domain model of a shipment: its data, its life cycle
// and the tracking events the life cycle leaves behind.
package parcel

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"example.com/courier/internal/geo"
)

// ID identifies a parcel; it is printed on the label.
type ID string

// Hard limits of the network: what a van can carry and the sorter accepts.
const (
	MaxWeightG   = 30_000
	MaxVolumeCm3 = 250_000
	MaxAttempts  = 3
)

// ErrInvalid wraps every validation failure of a draft.
var ErrInvalid = errors.New("parcel: invalid")

// Parcel is one shipment on its way to one address.
type Parcel struct {
	ID        ID        `json:"id"`
	Recipient string    `json:"recipient"`
	Dest      geo.Point `json:"dest"`
	WeightG   int       `json:"weight_g"`
	VolumeCm3 int       `json:"volume_cm3"`
	Window    Window    `json:"window"`
	CODCents  int64     `json:"cod_cents,omitempty"`

	State     State     `json:"state"`
	CourierID string    `json:"courier_id,omitempty"`
	Attempts  int       `json:"attempts,omitempty"`
	TriedBy   []string  `json:"tried_by,omitempty"`
	Version   int       `json:"version"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// New validates a draft and returns a parcel in its initial state.
func New(draft Parcel, now time.Time) (*Parcel, error) {
	p := draft
	p.State = Created
	p.CourierID, p.Attempts, p.TriedBy, p.Version = "", 0, nil, 0
	p.CreatedAt, p.UpdatedAt = now, now
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if !p.Window.IsZero() && p.Window.To.Before(now) {
		return nil, fmt.Errorf("%w: time window ended at %s", ErrInvalid, p.Window.To.Format(time.RFC3339))
	}
	return &p, nil
}

// Validate checks the fields a shipper controls.
func (p *Parcel) Validate() error {
	switch {
	case p.ID == "":
		return fmt.Errorf("%w: empty id", ErrInvalid)
	case strings.ContainsAny(string(p.ID), " /\n"):
		return fmt.Errorf("%w: id %q has a space or slash", ErrInvalid, p.ID)
	case p.WeightG <= 0 || p.WeightG > MaxWeightG:
		return fmt.Errorf("%w: weight %d g is not within 1 to %d", ErrInvalid, p.WeightG, MaxWeightG)
	case p.VolumeCm3 <= 0 || p.VolumeCm3 > MaxVolumeCm3:
		return fmt.Errorf("%w: volume %d cm3 is not within 1 to %d", ErrInvalid, p.VolumeCm3, MaxVolumeCm3)
	case p.CODCents < 0:
		return fmt.Errorf("%w: negative cash on delivery", ErrInvalid)
	}
	if err := p.Dest.Validate(); err != nil {
		return fmt.Errorf("%w: %v", ErrInvalid, err)
	}
	if err := p.Window.Validate(); err != nil {
		return fmt.Errorf("%w: %v", ErrInvalid, err)
	}
	return nil
}

// Clone returns a deep copy, so that stores never share memory with callers.
func (p *Parcel) Clone() *Parcel {
	c := *p
	c.TriedBy = append([]string(nil), p.TriedBy...)
	return &c
}

// WasTriedBy 判断该骑手是否曾投递失败。
func (p *Parcel) WasTriedBy(courierID string) bool {
	for _, id := range p.TriedBy {
		if id == courierID {
			return true
		}
	}
	return false
}

// minWindow 是对收件人承诺的最窄时间窗。
const minWindow = 30 * time.Minute

// Window is the promised delivery interval. The zero Window means any time.
type Window struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// IsZero reports whether no time was promised.
func (w Window) IsZero() bool { return w.From.IsZero() && w.To.IsZero() }

// Validate rejects half-open, reversed and too narrow windows.
func (w Window) Validate() error {
	if w.IsZero() {
		return nil
	}
	if w.From.IsZero() || w.To.IsZero() {
		return fmt.Errorf("window needs both ends")
	}
	if w.To.Sub(w.From) < minWindow {
		return fmt.Errorf("window of %s is shorter than %s", w.To.Sub(w.From), minWindow)
	}
	return nil
}

// Lateness is how long after the window's end t lies; zero when in time.
func (w Window) Lateness(t time.Time) time.Duration {
	if w.IsZero() || !t.After(w.To) {
		return 0
	}
	return t.Sub(w.To)
}

// Wait is how long a courier arriving at t stands before the window opens.
func (w Window) Wait(t time.Time) time.Duration {
	if w.IsZero() || !t.Before(w.From) {
		return 0
	}
	return w.From.Sub(t)
}
