package route

// Planner builds and extends tours under one cost model.
type Planner struct {
	Cost CostModel
}

// NewPlanner returns a planner.
func NewPlanner(cost CostModel) *Planner { return &Planner{Cost: cost} }

// Plan orders the stops: nearest neighbour first, then 2-opt.
func (pl *Planner) Plan(start Start, stops []Stop) Plan {
	return TwoOpt(pl.Cost, start, NearestNeighbour(start, stops))
}

// Insertion is the cheapest way to add one stop to an existing plan.
type Insertion struct {
	Index        int     // position of the new stop
	Plan         Plan    // the plan with the stop in it
	AddedMetres  float64 // extra driving
	AddedPenalty float64 // extra cost caused by time windows
	NewlyLate    int     // stops that were in time and no longer are
}

// Insert tries the stop at every position and returns the cheapest. It does
// not reorder the other stops, so a courier's next address never jumps while
// a parcel is merely being considered.
func (pl *Planner) Insert(base Plan, s Stop) Insertion {
	stops := base.Stops()
	var best Insertion
	for i := 0; i <= len(stops); i++ {
		trial := make([]Stop, 0, len(stops)+1)
		trial = append(trial, stops[:i]...)
		trial = append(trial, s)
		trial = append(trial, stops[i:]...)
		plan := pl.Cost.Evaluate(base.Start, trial)
		if i == 0 || plan.Cost < best.Plan.Cost-minGain {
			best = Insertion{Index: i, Plan: plan}
		}
	}
	best.AddedMetres = best.Plan.Metres - base.Metres
	best.AddedPenalty = penalties(best.Plan) - penalties(base)
	best.NewlyLate = best.Plan.LateStops() - base.LateStops()
	return best
}

func penalties(p Plan) float64 {
	sum := 0.0
	for _, l := range p.Legs {
		sum += l.Penalty
	}
	return sum
}
