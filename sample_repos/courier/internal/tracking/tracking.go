// Package tracking records what couriers and depots scan and answers where a
// parcel is and when it will arrive.
package tracking

import (
	"context"
	"errors"
	"fmt"
	"time"

	"example.com/courier/internal/dispatch"
	"example.com/courier/internal/metrics"
	"example.com/courier/internal/parcel"
	"example.com/courier/internal/queue"
	"example.com/courier/internal/route"
	"example.com/courier/internal/store"
)

// ErrWrongCourier reports a scan by somebody who does not hold the parcel.
var ErrWrongCourier = errors.New("tracking: parcel belongs to another courier")

// Service connects the state machine with the store and the job queue.
type Service struct {
	Store      store.Store
	Dispatcher *dispatch.Dispatcher
	Queue      *queue.Queue
	Metrics    *metrics.Registry
	Now        func() time.Time
}

// Scan is one reading of a parcel label.
type Scan struct {
	State     parcel.State `json:"state"`
	CourierID string       `json:"courier_id,omitempty"`
	At        time.Time    `json:"at"`
	Note      string       `json:"note,omitempty"`
}

// Announce accepts a new parcel from a shipper.
func (s *Service) Announce(ctx context.Context, draft parcel.Parcel) (*parcel.Parcel, error) {
	p, err := parcel.New(draft, s.Now())
	if err != nil {
		return nil, err
	}
	if err := s.Store.CreateParcel(ctx, p); err != nil {
		return nil, err
	}
	s.Metrics.Inc("courier_parcels_announced_total")
	return p, nil
}

// Record 处理一次扫描：校验持有人、推进状态机、保存，然后触发后续动作。
// 重复扫描同一状态视为成功，手持终端断网重传时经常发生。
func (s *Service) Record(ctx context.Context, id parcel.ID, scan Scan) (*parcel.Parcel, error) {
	p, err := s.Store.Parcel(ctx, id)
	if err != nil {
		return nil, err
	}
	if scan.State == parcel.Assigned {
		return nil, fmt.Errorf("%w: assignments are made by the dispatcher", parcel.ErrInvalid)
	}
	if p.State == scan.State {
		return p, nil
	}
	if p.CourierID != "" && scan.CourierID != "" && p.CourierID != scan.CourierID {
		return nil, fmt.Errorf("%w: %s", ErrWrongCourier, p.ID)
	}
	if scan.At.IsZero() || scan.At.After(s.Now()) {
		scan.At = s.Now()
	}
	ev, err := p.Transition(parcel.Step{To: scan.State, At: scan.At, Note: scan.Note})
	if err != nil {
		return nil, err
	}
	events := []parcel.Event{ev}
	if p.State == parcel.Failed && p.Exhausted() {
		back, err := p.Transition(parcel.Step{To: parcel.Returned, At: scan.At, Note: "last attempt failed"})
		if err != nil {
			return nil, err
		}
		events = append(events, back)
	}
	if err := s.Store.SaveParcel(ctx, p, events...); err != nil {
		return nil, err
	}
	s.followUp(p, events)
	return p, nil
}

// followUp 触发扫描成功之后的动作。状态已经保存，
// 因此这里的任何失败都不得让扫描本身失败。
func (s *Service) followUp(p *parcel.Parcel, events []parcel.Event) {
	for _, ev := range events {
		s.Metrics.Inc("courier_scans_total", "state", string(ev.To))
	}
	if p.State == parcel.Sorted {
		dispatch.EnqueueAssign(s.Queue, p, s.Now())
	}
}

// Status is what a recipient sees.
type Status struct {
	Parcel   *parcel.Parcel `json:"parcel"`
	Timeline []parcel.Entry `json:"timeline"`
	ETA      *route.ETA     `json:"eta,omitempty"`
}

// Status returns the public timeline and, once a courier has the parcel, the
// expected arrival.
func (s *Service) Status(ctx context.Context, id parcel.ID) (Status, error) {
	p, err := s.Store.Parcel(ctx, id)
	if err != nil {
		return Status{}, err
	}
	events, err := s.Store.EventsOf(ctx, id)
	if err != nil {
		return Status{}, err
	}
	st := Status{Parcel: p, Timeline: parcel.Timeline(events)}
	if p.CourierID == "" || p.State.Terminal() {
		return st, nil
	}
	plan, err := s.Dispatcher.PlanFor(ctx, p.CourierID)
	if err != nil {
		return Status{}, err
	}
	if eta, ok := route.EstimateArrival(plan, id); ok {
		st.ETA = &eta
	}
	return st, nil
}
