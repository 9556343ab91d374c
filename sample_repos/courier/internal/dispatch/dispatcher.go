// Package dispatch decides which courier carries which parcel.
package dispatch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"example.com/courier/internal/fleet"
	"example.com/courier/internal/metrics"
	"example.com/courier/internal/parcel"
	"example.com/courier/internal/route"
	"example.com/courier/internal/store"
)

// Re-exported so that callers need not import store for errors.Is.
var (
	ErrNotFound = store.ErrNotFound
	ErrConflict = store.ErrConflict
)

// ErrNoCourier reports that no courier may take the parcel right now.
var ErrNoCourier = errors.New("dispatch: no eligible courier")

// Store is the part of the store the dispatcher needs.
type Store interface {
	store.Parcels
	store.Couriers
}

// Dispatcher assigns parcels to couriers.
type Dispatcher struct {
	store   Store
	planner *route.Planner
	scorer  Scorer
	metrics *metrics.Registry
	now     func() time.Time

	// mu 让派单串行执行：两个包裹同时打分，会看到同一个空闲骑手。
	mu sync.Mutex
}

// New returns a dispatcher over the given store.
func New(st Store, pl *route.Planner, s Scorer, reg *metrics.Registry, now func() time.Time) *Dispatcher {
	return &Dispatcher{store: st, planner: pl, scorer: s, metrics: reg, now: now}
}

// Assignment is the result of Assign.
type Assignment struct {
	ParcelID  parcel.ID `json:"parcel_id"`
	CourierID string    `json:"courier_id"`
	Score     Score     `json:"score"`
	ETA       route.ETA `json:"eta"`
}

// Assign gives a sorted parcel to the best courier: it collects the eligible
// couriers, plans each one's tour with the parcel in it, ranks them by score
// and saves the winner. It fails with ErrNoCourier when nobody qualifies.
func (d *Dispatcher) Assign(ctx context.Context, id parcel.ID) (Assignment, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	a, err := d.assignLocked(ctx, id)
	result := "ok"
	if errors.Is(err, ErrNoCourier) {
		result = "no_courier"
	} else if err != nil {
		result = "error"
	}
	d.metrics.Inc("courier_assignments_total", "result", result)
	return a, err
}

func (d *Dispatcher) assignLocked(ctx context.Context, id parcel.ID) (Assignment, error) {
	p, err := d.store.Parcel(ctx, id)
	if err != nil {
		return Assignment{}, err
	}
	if !p.State.CanGo(parcel.Assigned) {
		return Assignment{}, &parcel.TransitionError{ID: p.ID, From: p.State, To: parcel.Assigned}
	}
	candidates, rejected, err := d.candidates(ctx, p)
	if err != nil {
		return Assignment{}, err
	}
	if len(candidates) == 0 {
		return Assignment{}, fmt.Errorf("%w for parcel %s (%d rejected)", ErrNoCourier, id, len(rejected))
	}
	best := Rank(d.scorer, candidates, p)[0]
	if err := d.commit(ctx, p, best); err != nil {
		return Assignment{}, err
	}
	a := Assignment{ParcelID: id, CourierID: best.CourierID, Score: best}
	for _, c := range candidates {
		if c.Courier.ID == best.CourierID {
			a.ETA, _ = route.EstimateArrival(c.Insertion.Plan, id)
		}
	}
	return a, nil
}

// commit moves the parcel to its courier.
func (d *Dispatcher) commit(ctx context.Context, p *parcel.Parcel, best Score) error {
	ev, err := p.Transition(parcel.Step{
		To: parcel.Assigned, At: d.now(), CourierID: best.CourierID,
		Note: fmt.Sprintf("score %.1f", best.Total),
	})
	if err != nil {
		return err
	}
	return d.store.SaveParcel(ctx, p, ev)
}

// candidates 把花名册分成两组：值得打分的候选人，以及被排除者和原因。
func (d *Dispatcher) candidates(ctx context.Context, p *parcel.Parcel) ([]Candidate, []Rejection, error) {
	roster, err := d.store.ListCouriers(ctx)
	if err != nil {
		return nil, nil, err
	}
	now := d.now()
	stop := route.StopFor(p)
	var fit []Candidate
	var rejected []Rejection
	open := 0
	for _, c := range roster {
		inHand, err := d.store.ParcelsOf(ctx, c.ID)
		if err != nil {
			return nil, nil, err
		}
		load := totalLoad(inHand)
		why := eligible(c, load, p, now)
		var ins route.Insertion
		if why == "" {
			ins = d.planner.Insert(d.planTour(c, inHand, now), stop)
			why = feasible(c, ins)
		}
		if why != "" {
			rejected = append(rejected, Rejection{c.ID, why})
			continue
		}
		open += len(inHand)
		fit = append(fit, Candidate{Courier: c, Load: load, Insertion: ins})
	}
	for i := range fit {
		fit[i].FleetMean = float64(open) / float64(len(fit))
	}
	return fit, rejected, nil
}

func (d *Dispatcher) planTour(c *fleet.Courier, inHand []*parcel.Parcel, now time.Time) route.Plan {
	stops := make([]route.Stop, 0, len(inHand))
	for _, p := range inHand {
		stops = append(stops, route.StopFor(p))
	}
	start := route.Start{Point: c.Whereabouts(now), At: now, SpeedKmh: c.Vehicle().SpeedKmh}
	return d.planner.Plan(start, stops)
}

// Explain ranks all couriers for a parcel without assigning it.
func (d *Dispatcher) Explain(ctx context.Context, id parcel.ID) ([]Score, []Rejection, error) {
	p, err := d.store.Parcel(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	candidates, rejected, err := d.candidates(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	return Rank(d.scorer, candidates, p), rejected, nil
}

// PlanFor returns the current tour of a courier.
func (d *Dispatcher) PlanFor(ctx context.Context, courierID string) (route.Plan, error) {
	c, err := d.store.Courier(ctx, courierID)
	if err != nil {
		return route.Plan{}, err
	}
	inHand, err := d.store.ParcelsOf(ctx, courierID)
	if err != nil {
		return route.Plan{}, err
	}
	return d.planTour(c, inHand, d.now()), nil
}
