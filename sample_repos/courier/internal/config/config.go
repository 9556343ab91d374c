// Package config loads the daemon's settings from a JSON file.
package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"example.com/courier/internal/dispatch"
	"example.com/courier/internal/geo"
	"example.com/courier/internal/queue"
	"example.com/courier/internal/route"
)

// Config is everything that can be set from the file.
type Config struct {
	Listen      string           `json:"listen"`
	Token       string           `json:"token"`
	DataFile    string           `json:"data_file"` // empty means in memory
	Depot       geo.Point        `json:"depot"`
	PollSec     float64          `json:"poll_seconds"`
	MaxAttempts int              `json:"max_attempts"`
	RetrySec    float64          `json:"retry_seconds"` // before the first retry
	Weights     dispatch.Weights `json:"weights"`
	Cost        route.CostModel  `json:"cost"`
}

// Default returns the settings used for everything the file leaves out.
func Default() Config {
	return Config{
		Listen:      "127.0.0.1:8080",
		PollSec:     2,
		MaxAttempts: queue.DefaultRetry.MaxAttempts,
		RetrySec:    queue.DefaultRetry.Backoff.Base.Seconds(),
		Weights:     dispatch.DefaultWeights,
		Cost:        route.DefaultCost,
	}
}

// Load reads and validates a file.
func Load(path string) (Config, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return Config{}, fmt.Errorf("config: %w", err)
	}
	return Parse(raw)
}

// Parse 在默认值之上叠加文件内容。未知键一律报错：
// 拼错的键若被静默忽略，排查起来要花掉一个晚上。
func Parse(raw []byte) (Config, error) {
	c := Default()
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&c); err != nil {
		return Config{}, fmt.Errorf("config: %w", err)
	}
	return c, c.Validate()
}

// Validate checks the settings against each other.
func (c Config) Validate() error {
	if err := c.Depot.Validate(); err != nil {
		return fmt.Errorf("config: depot: %w", err)
	}
	if c.PollSec <= 0 || c.RetrySec <= 0 || c.MaxAttempts < 1 {
		return fmt.Errorf("config: the queue needs positive delays and at least one attempt")
	}
	return c.Weights.Validate()
}

// Retry is the queue policy with the configured figures.
func (c Config) Retry() queue.RetryPolicy {
	p := queue.DefaultRetry
	p.MaxAttempts, p.Backoff.Base = c.MaxAttempts, seconds(c.RetrySec)
	return p
}

// Poll is how often the queue looks for due jobs.
func (c Config) Poll() time.Duration { return seconds(c.PollSec) }

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
