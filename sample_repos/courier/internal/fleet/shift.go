package fleet

import (
	"fmt"
	"time"
)

// Shift 是骑手的一个班次。班次允许跨零点，所以只比较绝对时刻，不比较钟点。
type Shift struct {
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
}

// maxShift is the legal limit.
const maxShift = 10 * time.Hour

// Validate checks the order of the two instants and the legal limit.
func (s Shift) Validate() error {
	if !s.End.After(s.Start) {
		return fmt.Errorf("fleet: shift ends before it starts")
	}
	if s.End.Sub(s.Start) > maxShift {
		return fmt.Errorf("fleet: shift of %s exceeds %s", s.End.Sub(s.Start), maxShift)
	}
	return nil
}

// OnDuty reports whether the courier works at t.
func (s Shift) OnDuty(t time.Time) bool {
	return !t.Before(s.Start) && t.Before(s.End)
}

// Remaining 返回 t 之后还能工作的时长；t 早于开始时间时从开始算起。
func (s Shift) Remaining(t time.Time) time.Duration {
	if t.Before(s.Start) {
		t = s.Start
	}
	if !t.Before(s.End) {
		return 0
	}
	return s.End.Sub(t)
}
