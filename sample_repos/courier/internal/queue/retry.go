package queue

import (
	"errors"
	"time"

	"example.com/courier/third_party/backoff"
)

// Reason says why a job is not retried any more.
type Reason string

// The reasons for which a job stops being retried.
const (
	StopPermanent Reason = "permanent" // the handler said that no retry helps
	StopExhausted Reason = "exhausted" // MaxAttempts were made
	StopExpired   Reason = "expired"   // the next attempt would come too late
	StopObsolete  Reason = "obsolete"  // nobody wants the result any more
)

// RetryPolicy decides how often and how fast failed jobs run again.
type RetryPolicy struct {
	MaxAttempts int
	Backoff     backoff.Exponential
}

// DefaultRetry spreads six attempts over about ten minutes.
var DefaultRetry = RetryPolicy{
	MaxAttempts: 6,
	Backoff:     backoff.Exponential{Base: 20 * time.Second, Max: 5 * time.Minute, Factor: 2.2, Jitter: 0.25},
}

// Decision is the outcome of Decide: either a time for the next attempt or
// the reason why there is none.
type Decision struct {
	Retry bool
	At    time.Time
	Why   Reason
}

// Decide tells whether a delivery job that failed with err is retried, and
// when. It stops being retried when the handler called the error permanent or
// the work obsolete, when MaxAttempts attempts were made, or when the next
// attempt would fall after the job's own deadline NotAfter.
func (p RetryPolicy) Decide(j Job, err error, now time.Time, random func() float64) Decision {
	switch {
	case errors.Is(err, ErrObsolete):
		return Decision{Why: StopObsolete}
	case IsPermanent(err):
		return Decision{Why: StopPermanent}
	case j.Attempt >= p.MaxAttempts:
		return Decision{Why: StopExhausted}
	}
	next := now.Add(p.Backoff.Delay(j.Attempt, random))
	if !j.NotAfter.IsZero() && next.After(j.NotAfter) {
		return Decision{Why: StopExpired}
	}
	return Decision{Retry: true, At: next}
}
