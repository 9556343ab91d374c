package queue

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"sort"
	"sync"
	"time"

	"example.com/courier/internal/metrics"
)

// Handler does the work of one job kind.
type Handler func(ctx context.Context, j Job) error

// ErrNoHandler is the failure of a job whose kind nobody registered.
var ErrNoHandler = errors.New("queue: no handler for job kind")

// Queue 保存任务，到期后执行；失败的任务由 RetryPolicy 决定去留。
type Queue struct {
	Policy  RetryPolicy
	Metrics *metrics.Registry
	Random  func() float64

	mu       sync.Mutex
	due      []Job // ordered by RunAt, then by age
	handlers map[string]Handler
	dead     []Job
	seq      int
}

// New returns an empty queue with the given policy.
func New(policy RetryPolicy, reg *metrics.Registry) *Queue {
	return &Queue{Policy: policy, Metrics: reg, Random: rand.Float64, handlers: map[string]Handler{}}
}

// Handle registers the handler of a job kind.
func (q *Queue) Handle(kind string, h Handler) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.handlers[kind] = h
}

// Enqueue adds a job. A pending job of the same kind for the same parcel is
// not added twice; its ID is returned instead.
func (q *Queue) Enqueue(j Job) string {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, other := range q.due {
		if other.Kind == j.Kind && other.ParcelID == j.ParcelID {
			return other.ID
		}
	}
	q.seq++
	j.ID = fmt.Sprintf("job-%d", q.seq)
	j.Attempt = 0
	q.push(j)
	return j.ID
}

// push 按到期时间插入任务，同一时刻到期的排在后面；调用方须持有 mu。
func (q *Queue) push(j Job) {
	i := sort.Search(len(q.due), func(i int) bool { return q.due[i].RunAt.After(j.RunAt) })
	q.due = append(q.due, Job{})
	copy(q.due[i+1:], q.due[i:])
	q.due[i] = j
}

// RunDue 执行所有在 now 之前到期的任务，返回执行的数量。
// 执行中重新入队的任务留给下一次调用，避免死循环。
func (q *Queue) RunDue(ctx context.Context, now time.Time) int {
	q.mu.Lock()
	n := sort.Search(len(q.due), func(i int) bool { return q.due[i].RunAt.After(now) })
	batch := append([]Job(nil), q.due[:n]...)
	q.due = q.due[n:]
	q.mu.Unlock()
	for _, j := range batch {
		q.runOne(ctx, j, now)
	}
	return len(batch)
}

// Run polls until the context ends.
func (q *Queue) Run(ctx context.Context, every time.Duration) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			q.RunDue(ctx, now)
		}
	}
}

func (q *Queue) runOne(ctx context.Context, j Job, now time.Time) {
	q.mu.Lock()
	h := q.handlers[j.Kind]
	q.mu.Unlock()
	j.Attempt++
	err := call(ctx, h, j)
	if err == nil {
		q.Metrics.Inc("courier_jobs_total", "kind", j.Kind, "result", "ok")
		return
	}
	j.LastErr = err.Error()
	d := q.Policy.Decide(j, err, now, q.Random)
	if d.Retry {
		j.RunAt = d.At
		q.mu.Lock()
		q.push(j)
		q.mu.Unlock()
		q.Metrics.Inc("courier_jobs_total", "kind", j.Kind, "result", "retry")
		return
	}
	q.bury(j, d.Why)
}

// call runs a handler and turns a panic into a permanent error, so that one
// broken job cannot take the worker down.
func call(ctx context.Context, h Handler, j Job) (err error) {
	if h == nil {
		return Permanent(fmt.Errorf("%w: %s", ErrNoHandler, j.Kind))
	}
	defer func() {
		if r := recover(); r != nil {
			err = Permanent(fmt.Errorf("queue: job %s panicked: %v", j.ID, r))
		}
	}()
	return h(ctx, j)
}

// bury records a job that will not run again. Obsolete jobs are forgotten.
func (q *Queue) bury(j Job, why Reason) {
	q.Metrics.Inc("courier_jobs_total", "kind", j.Kind, "result", string(why))
	if why == StopObsolete {
		return
	}
	j.Stopped = why
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dead = append(q.dead, j)
}

// Dead lists the jobs that were given up, oldest first.
func (q *Queue) Dead() []Job {
	q.mu.Lock()
	defer q.mu.Unlock()
	return append([]Job(nil), q.dead...)
}

// Len is the number of jobs waiting.
func (q *Queue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.due)
}
