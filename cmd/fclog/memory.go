package main

import (
	"cmp"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
)

const (
	// softMemory is what an import keeps to by collecting garbage more eagerly, in
	// bytes: with what Go does not count it stays below 500 MB (docs/performance.md).
	softMemory = 400 << 20
	// garbage is how much of it may gather below softMemory, in percent of what is in
	// use. Go's own 100 takes a tenth more CPU time (docs/performance.md).
	garbage = 400
)

// boundMemory has the garbage collector keep an import of files of these sizes within
// softMemory, or within twice the largest files that may be at work at once: they
// are held whole, and a limit below them would only cost time. Limits that the
// user set stay. The result takes it back.
func (a *app) boundMemory(sizes map[string]int64) (restore func()) {
	if a.getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	largest := slices.SortedFunc(maps.Values(sizes), func(a, b int64) int { return cmp.Compare(b, a) })
	var atWork int64
	for _, size := range largest[:min(len(largest), runtime.GOMAXPROCS(0))] {
		atWork += size
	}
	limit := debug.SetMemoryLimit(max(softMemory, 2*atWork))
	if a.getenv("GOGC") != "" || 2*atWork > softMemory {
		return func() { debug.SetMemoryLimit(limit) }
	}
	percent := debug.SetGCPercent(garbage)
	return func() {
		debug.SetMemoryLimit(limit)
		debug.SetGCPercent(percent)
	}
}
