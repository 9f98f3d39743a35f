package main

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
)

// percentNow is the percentage the garbage collector works with.
func percentNow() int {
	now := debug.SetGCPercent(100)
	debug.SetGCPercent(now)
	return now
}

// TestBoundMemory: small logs are kept to 400 MiB, where garbage may gather, logs that
// cannot fit into that to twice those at work at once, and what the user set stays.
func TestBoundMemory(t *testing.T) {
	limit, percent := debug.SetMemoryLimit(-1), percentNow()
	cases := []struct {
		name        string
		env         map[string]string
		sizes       map[string]int64
		wantLimit   int64
		wantPercent int
	}{
		{"no files", nil, nil, 400 << 20, 400},
		{"small ones", nil, map[string]int64{"a": 1 << 20, "b": 90 << 20}, 400 << 20, 400},
		{"a large one", nil, map[string]int64{"a": 1 << 30}, 2 << 30, percent},
		{"the user's own limit", map[string]string{"GOMEMLIMIT": "1GiB"}, map[string]int64{"a": 1 << 20}, limit, percent},
		{"the user's own percentage", map[string]string{"GOGC": "50"}, map[string]int64{"a": 1 << 20}, 400 << 20, percent},
	}
	for _, c := range cases {
		a := &app{getenv: func(name string) string { return c.env[name] }}
		restore := a.boundMemory(c.sizes)
		assert.Equal(t, c.wantLimit, debug.SetMemoryLimit(-1), c.name)
		assert.Equal(t, c.wantPercent, percentNow(), c.name)
		restore()
		assert.Equal(t, limit, debug.SetMemoryLimit(-1), c.name)
		assert.Equal(t, percent, percentNow(), c.name)
	}
}
