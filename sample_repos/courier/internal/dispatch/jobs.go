package dispatch

import (
	"context"
	"errors"
	"time"

	"example.com/courier/internal/parcel"
	"example.com/courier/internal/queue"
)

// AssignKind is the queue job kind that assigns one parcel.
const AssignKind = "delivery.assign"

// minLead 是骑手赶到收件人处至少需要的时间；
// 离时间窗关闭不足这么久，再派单已无意义。
const minLead = 20 * time.Minute

// EnqueueAssign schedules the assignment of a sorted parcel. The job expires
// shortly before the parcel's window closes.
func EnqueueAssign(q *queue.Queue, p *parcel.Parcel, now time.Time) string {
	j := queue.Job{Kind: AssignKind, ParcelID: string(p.ID), RunAt: now}
	if !p.Window.IsZero() {
		j.NotAfter = p.Window.To.Add(-minLead)
	}
	return q.Enqueue(j)
}

// AssignHandler runs assignment jobs. Having no courier right now is worth a
// retry; a parcel that has moved on makes the job obsolete, and one that does
// not exist will not appear later.
func AssignHandler(d *Dispatcher) queue.Handler {
	return func(ctx context.Context, j queue.Job) error {
		_, err := d.Assign(ctx, parcel.ID(j.ParcelID))
		var te *parcel.TransitionError
		switch {
		case errors.As(err, &te):
			return queue.ErrObsolete
		case errors.Is(err, ErrNotFound):
			return queue.Permanent(err)
		}
		return err
	}
}

// Resume queues the assignment of every sorted parcel; the queue itself does
// not survive a restart.
func Resume(ctx context.Context, d *Dispatcher, q *queue.Queue) error {
	waiting, err := d.store.ParcelsIn(ctx, parcel.Sorted)
	for _, p := range waiting {
		EnqueueAssign(q, p, d.now())
	}
	return err
}
