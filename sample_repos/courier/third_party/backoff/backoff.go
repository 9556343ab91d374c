// Package backoff computes exponential retry delays with jitter.
//
// Copyright (c) 2024 Tomas Verhelst
// Licensed under the MIT License.
package backoff

import "time"

// Exponential describes a growing delay: Base, Base*Factor, Base*Factor^2 ...
// never above Max. Jitter is the share (0 to 1) of each delay that is random.
type Exponential struct {
	Base   time.Duration
	Max    time.Duration
	Factor float64
	Jitter float64
}

// Delay returns the pause before the given attempt; the first retry is 1.
// random must return a number in [0,1); nil means no jitter.
func (e Exponential) Delay(attempt int, random func() float64) time.Duration {
	if attempt < 1 {
		attempt = 1
	}
	factor := e.Factor
	if factor < 1 {
		factor = 2
	}
	d := float64(e.Base)
	for i := 1; i < attempt; i++ {
		d *= factor
		if e.Max > 0 && d >= float64(e.Max) {
			d = float64(e.Max)
			break
		}
	}
	if random != nil && e.Jitter > 0 {
		d -= d * e.Jitter * random()
	}
	return time.Duration(d)
}
