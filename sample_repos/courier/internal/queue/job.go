// Package queue runs background jobs with retries. It lives in memory: every
// job can be derived again from the parcel store after a restart.
package queue

import (
	"errors"
	"time"
)

// Job is one unit of background work on a parcel.
type Job struct {
	ID       string    `json:"id"`
	Kind     string    `json:"kind"`
	ParcelID string    `json:"parcel_id"`
	Attempt  int       `json:"attempt"`
	NotAfter time.Time `json:"not_after,omitempty"`
	RunAt    time.Time `json:"run_at"`
	Stopped  Reason    `json:"stopped,omitempty"`
	LastErr  string    `json:"last_error,omitempty"`
}

// permanentError marks an error that no retry can cure.
type permanentError struct{ err error }

func (e *permanentError) Error() string { return e.err.Error() }
func (e *permanentError) Unwrap() error { return e.err }

// Permanent wraps an error so that the job that returned it is not retried.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanentError{err}
}

// IsPermanent reports whether err, or an error it wraps, is permanent.
func IsPermanent(err error) bool {
	var p *permanentError
	return errors.As(err, &p)
}

// ErrObsolete is returned by a handler whose work is no longer wanted, for
// instance because the parcel was cancelled. The job ends without a failure.
var ErrObsolete = errors.New("queue: job is obsolete")
