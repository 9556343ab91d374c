package dispatch

import (
	"math"
	"sort"
	"time"

	"example.com/courier/internal/fleet"
	"example.com/courier/internal/parcel"
	"example.com/courier/internal/route"
)

// 派单打分规则。
//
// 先由 eligible 做硬性过滤（在岗、装得下、能收款……），剩下的候选人才打分。
// 每一项先归一化到 0..1，再乘以 Weights 里的权重；正项相加，罚项相减。
// 分数高者得单，同分依次看新增里程、骑手编号，保证结果可复现。

// Reference values that map raw quantities to 0..1.
const (
	halfDistance = 1800.0 // metres of extra driving at which proximity is worth half
	idealFill    = 0.7    // load at which a vehicle is used best
	fullSlack    = 2 * time.Hour
	worstPenalty = 60.0 // cost minutes at which lateness takes the full penalty
	neutralStars = 4.2  // rating assumed for couriers without reviews
)

// Candidate is an eligible courier together with the tour they would drive.
type Candidate struct {
	Courier   *fleet.Courier
	Load      fleet.Load      // goods on board, without the new parcel
	Insertion route.Insertion // the new stop at its best position
	FleetMean float64         // mean number of open stops over all candidates
}

// Term is one summand of a score, kept for the explanation shown to dispatchers.
type Term struct {
	Name   string  `json:"name"`
	Value  float64 `json:"value"` // normalised to 0..1
	Points float64 `json:"points"`
}

// Score is the rated suitability of one courier for one parcel.
type Score struct {
	CourierID string  `json:"courier_id"`
	Total     float64 `json:"total"`
	Terms     []Term  `json:"terms"`

	addedMetres float64
}

// add appends a term; value is clamped so that no term can exceed its weight.
func (s *Score) add(name string, weight, value float64) {
	if math.IsNaN(value) {
		value = 0
	}
	value = math.Max(0, math.Min(1, value))
	s.Terms = append(s.Terms, Term{Name: name, Value: value, Points: weight * value})
	s.Total += weight * value
}

// Scorer rates a candidate; higher is better.
type Scorer interface {
	Score(c Candidate, p *parcel.Parcel) Score
}

// WeightedScorer is the standard Scorer: a weighted sum of normalised terms.
type WeightedScorer struct {
	Weights Weights
}

// Score 计算一个候选骑手的总分，并保留每一项的明细。
func (s *WeightedScorer) Score(c Candidate, p *parcel.Parcel) Score {
	w := s.Weights
	score := Score{
		CourierID:   c.Courier.ID,
		addedMetres: c.Insertion.AddedMetres,
	}
	score.add("proximity", w.Proximity, proximity(c))
	score.add("balance", w.Balance, balance(c))
	score.add("capacity", w.Capacity, capacityFit(c, p))
	score.add("slack", w.Slack, shiftSlack(c))
	score.add("rating", w.Rating, rating(c))
	score.add("late", -w.Late, latePenalty(c))
	score.add("retried", -w.Retried, retried(c, p))
	return score
}

// proximity halves with every halfDistance metres of extra driving. It looks
// at the detour rather than the distance, so a courier who passes by anyway
// beats one who merely stands close.
func proximity(c Candidate) float64 {
	return math.Exp2(-math.Max(0, c.Insertion.AddedMetres) / halfDistance)
}

// balance 手上单量低于平均得高分；空车得满分，达到平均值的两倍为零分。
func balance(c Candidate) float64 {
	open := float64(len(c.Insertion.Plan.Legs) - 1)
	if open == 0 {
		return 1
	}
	return 1 - open/(2*math.Max(1, c.FleetMean))
}

// capacityFit rewards a vehicle that ends up well used. A full one gets no
// points because it leaves no room for the next pickup, an empty van loses
// some because a bike would have done.
func capacityFit(c Candidate, p *parcel.Parcel) float64 {
	fill := c.Load.Plus(loadOf(p)).FillRatio(c.Courier.Vehicle().Capacity)
	if fill <= idealFill {
		return 0.4 + 0.6*fill/idealFill
	}
	return (1 - fill) / (1 - idealFill)
}

// shiftSlack 按插入新单之后、班次结束之前的剩余工时打分。
func shiftSlack(c Candidate) float64 {
	left := c.Courier.Shift.Remaining(c.Insertion.Plan.End())
	return left.Hours() / fullSlack.Hours()
}

// rating spreads the upper half of the star scale; nobody keeps riding below 3.
func rating(c Candidate) float64 {
	stars := c.Courier.Rating
	if stars == 0 {
		stars = neutralStars
	}
	return (stars - 3) / 2
}

// latePenalty 只看插入新单所“新增”的时间窗违约成本：骑手原本就会迟到的单
// 不应再罚一次。每挤掉一单准时的，另按最大罚分的四分之一计。
func latePenalty(c Candidate) float64 {
	cost := math.Max(0, c.Insertion.AddedPenalty) / worstPenalty
	return cost + 0.25*math.Max(0, float64(c.Insertion.NewlyLate))
}

// retried applies when this courier already failed to deliver the parcel; a
// new face (and another time of day) finds the recipient more often.
func retried(c Candidate, p *parcel.Parcel) float64 {
	if p.WasTriedBy(c.Courier.ID) {
		return 1
	}
	return 0
}

// Rank scores all candidates and sorts them best first. Ties are broken by
// extra driving and courier id, so that the result never depends on the order
// in which the store lists couriers.
func Rank(s Scorer, candidates []Candidate, p *parcel.Parcel) []Score {
	scores := make([]Score, 0, len(candidates))
	for _, c := range candidates {
		scores = append(scores, s.Score(c, p))
	}
	sort.Slice(scores, func(i, j int) bool { return scores[i].betterThan(scores[j]) })
	return scores
}

// scoreNoise is the difference below which two totals count as equal.
const scoreNoise = 0.005

func (s Score) betterThan(o Score) bool {
	// Rounding first keeps the order transitive, unlike comparing differences.
	a, b := math.Round(s.Total/scoreNoise), math.Round(o.Total/scoreNoise)
	da, db := math.Round(s.addedMetres), math.Round(o.addedMetres)
	switch {
	case a != b:
		return a > b
	case da != db:
		return da < db
	}
	return s.CourierID < o.CourierID
}
