// Package metrics keeps counters and prints them in the text exposition format.
package metrics

import (
	"fmt"
	"io"
	"sort"
	"strings"
	"sync"
)

// Registry 保存进程内的全部计数器；nil 值可以直接使用，
// 什么也不记，测试不必专门创建。
type Registry struct {
	mu     sync.Mutex
	values map[string]float64
}

// New returns an empty registry.
func New() *Registry { return &Registry{values: map[string]float64{}} }

// Inc adds one to a counter. Labels are name, value pairs.
func (r *Registry) Inc(name string, labels ...string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.values[series(name, labels)]++
}

// Value reads one counter; zero when it was never written.
func (r *Registry) Value(name string, labels ...string) float64 {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.values[series(name, labels)]
}

// WriteTo prints all counters sorted by name.
func (r *Registry) WriteTo(w io.Writer) (int64, error) {
	r.mu.Lock()
	lines := make([]string, 0, len(r.values))
	for k, v := range r.values {
		lines = append(lines, fmt.Sprintf("%s %g\n", k, v))
	}
	r.mu.Unlock()
	sort.Strings(lines)
	n, err := io.WriteString(w, strings.Join(lines, ""))
	return int64(n), err
}

func series(name string, labels []string) string {
	if len(labels) < 2 {
		return name
	}
	parts := make([]string, 0, len(labels)/2)
	for i := 0; i+1 < len(labels); i += 2 {
		parts = append(parts, fmt.Sprintf("%s=%q", labels[i], labels[i+1]))
	}
	return name + "{" + strings.Join(parts, ",") + "}"
}
