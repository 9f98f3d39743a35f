package main

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestBoundMemory: small logs are kept to 400 MiB, logs that cannot fit into that to
// twice those at work at once, and what the user set stays.
func TestBoundMemory(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	cases := []struct {
		name  string
		env   string
		sizes map[string]int64
		want  int64
	}{
		{"no files", "", nil, 400 << 20},
		{"small ones", "", map[string]int64{"a": 1 << 20, "b": 90 << 20}, 400 << 20},
		{"a large one", "", map[string]int64{"a": 1 << 30}, 2 << 30},
		{"the user's own limit", "1GiB", map[string]int64{"a": 1 << 30}, before},
	}
	for _, c := range cases {
		a := &app{getenv: func(string) string { return c.env }}
		restore := a.boundMemory(c.sizes)
		assert.Equal(t, c.want, debug.SetMemoryLimit(-1), c.name)
		restore()
		assert.Equal(t, before, debug.SetMemoryLimit(-1), c.name)
	}
}
