package parcel

import (
	"fmt"
	"time"
)

// 包裹状态机。
//
// 状态只能沿 transitions 表中的边前进，任何代码都不得直接给
// Parcel.State 赋值，必须经过 Transition，这样每次变化都会留下一条轨迹事件。
//
//	created → sorted → assigned → out → delivered
//	                      ↑         ↓
//	                      └─ failed ┴→ returned
//
// cancelled 可从出车之前的任何状态进入。

// State is a step of the parcel life cycle.
type State string

// The states of a parcel.
const (
	Created        State = "created"
	Sorted         State = "sorted"
	Assigned       State = "assigned"
	OutForDelivery State = "out"
	Delivered      State = "delivered"
	Failed         State = "failed"
	Returned       State = "returned"
	Cancelled      State = "cancelled"
)

// transitions 列出每个状态允许到达的下一状态；没有出边的是终态。
var transitions = map[State][]State{
	Created:        {Sorted, Cancelled},
	Sorted:         {Assigned, Cancelled},
	Assigned:       {OutForDelivery, Sorted, Cancelled},
	OutForDelivery: {Delivered, Failed},
	Failed:         {Sorted, Returned},
}

// TransitionError reports a step the state machine does not allow.
type TransitionError struct {
	ID       ID
	From, To State
}

func (e *TransitionError) Error() string {
	return fmt.Sprintf("parcel %s: cannot go from %s to %s", e.ID, e.From, e.To)
}

// Terminal reports whether a parcel in this state never changes again.
func (s State) Terminal() bool {
	return s == Delivered || s == Returned || s == Cancelled
}

// CanGo reports whether the state machine has an edge from s to next.
func (s State) CanGo(next State) bool {
	for _, t := range transitions[s] {
		if t == next {
			return true
		}
	}
	return false
}

// Step carries what a transition needs to know besides the target state.
type Step struct {
	To        State
	At        time.Time
	CourierID string // only for Assigned
	Note      string
}

// Transition 执行一次状态迁移：先查表，再做进入目标状态的副作用
// （绑定或解绑骑手、累计失败次数），最后返回应写入日志的轨迹事件。
// 出错时包裹保持原样。
func (p *Parcel) Transition(s Step) (Event, error) {
	if !p.State.CanGo(s.To) {
		return Event{}, &TransitionError{p.ID, p.State, s.To}
	}
	if s.To == Assigned && s.CourierID == "" {
		return Event{}, fmt.Errorf("parcel %s: assigned without a courier", p.ID)
	}
	if s.At.Before(p.UpdatedAt) {
		// Scanner clocks run behind; keep the history monotonic.
		s.At = p.UpdatedAt
	}
	ev := Event{ParcelID: p.ID, From: p.State, To: s.To, At: s.At, CourierID: p.CourierID, Note: s.Note}
	switch s.To {
	case Assigned:
		p.CourierID = s.CourierID
		ev.CourierID = s.CourierID
	case Failed:
		p.Attempts++
		if !p.WasTriedBy(p.CourierID) {
			p.TriedBy = append(p.TriedBy, p.CourierID)
		}
	case Sorted, Returned, Cancelled:
		p.CourierID = ""
	}
	p.State = s.To
	p.UpdatedAt = s.At
	return ev, nil
}

// Exhausted reports whether a failed parcel must go back to the shipper.
func (p *Parcel) Exhausted() bool {
	return p.Attempts >= MaxAttempts
}
