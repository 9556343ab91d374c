package queue

import (
	"context"
	"errors"
	"testing"
	"time"

	"example.com/courier/internal/metrics"
	"example.com/courier/third_party/backoff"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func testQueue() *Queue {
	q := New(RetryPolicy{MaxAttempts: 3, Backoff: backoff.Exponential{Base: time.Minute, Factor: 2, Max: time.Hour}}, metrics.New())
	q.Random = nil
	return q
}

func TestRetryUntilExhausted(t *testing.T) {
	q := testQueue()
	calls := 0
	q.Handle("notify", func(context.Context, Job) error { calls++; return errors.New("timeout") })
	q.Enqueue(Job{Kind: "notify", ParcelID: "P1", RunAt: noon})
	now := noon
	for i := 0; i < 10; i++ {
		q.RunDue(context.Background(), now)
		now = now.Add(5 * time.Minute)
	}
	dead := q.Dead()
	if calls != 3 || len(dead) != 1 || dead[0].Stopped != StopExhausted {
		t.Fatalf("calls %d, dead %+v", calls, dead)
	}
}

func TestDecideStopsForEachReason(t *testing.T) {
	p := testQueue().Policy
	plain := errors.New("boom")
	cases := []struct {
		name string
		job  Job
		err  error
		want Reason
	}{
		{"permanent", Job{Attempt: 1}, Permanent(plain), StopPermanent},
		{"exhausted", Job{Attempt: 3}, plain, StopExhausted},
		{"expired", Job{Attempt: 1, NotAfter: noon.Add(30 * time.Second)}, plain, StopExpired},
		{"obsolete", Job{Attempt: 3}, ErrObsolete, StopObsolete},
	}
	for _, c := range cases {
		if d := p.Decide(c.job, c.err, noon, nil); d.Retry || d.Why != c.want {
			t.Errorf("%s: %+v", c.name, d)
		}
	}
	d := p.Decide(Job{Attempt: 2}, plain, noon, nil)
	if !d.Retry || !d.At.Equal(noon.Add(2*time.Minute)) {
		t.Errorf("second retry: %+v", d)
	}
}

func TestPanicAndMissingHandlerAreBuried(t *testing.T) {
	q := testQueue()
	q.Handle("bad", func(context.Context, Job) error { panic("nil map") })
	q.Enqueue(Job{Kind: "bad", RunAt: noon})
	q.Enqueue(Job{Kind: "unheard", RunAt: noon})
	if n := q.RunDue(context.Background(), noon); n != 2 {
		t.Fatalf("ran %d", n)
	}
	for _, j := range q.Dead() {
		if j.Stopped != StopPermanent {
			t.Errorf("%s stopped as %s", j.Kind, j.Stopped)
		}
	}
}
