package config

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestShippedConfigLoads(t *testing.T) {
	c, err := Load(filepath.Join("..", "..", "config", "courierd.json"))
	if err != nil {
		t.Fatal(err)
	}
	if c.Retry().MaxAttempts != 6 || c.Weights.Proximity != 44 || c.Weights.Late != 45 {
		t.Fatalf("%+v", c)
	}
}

func TestParseRejectsMistakes(t *testing.T) {
	cases := map[string]string{
		`{"depto": {}}`: "depto",
		`{}`:            "depot",
		`{"depot": {"lat": 52.5, "lng": 13.4}, "weights": {"late": -1}}`: "negative",
		`{"depot": {"lat": 52.5, "lng": 13.4}, "max_attempts": 0}`:       "attempt",
	}
	for text, part := range cases {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: err = %v", text, err)
		}
	}
}
