package main

import (
	"cmp"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
)

// softMemory is what an import keeps to by collecting garbage more eagerly, in bytes:
// with what Go does not count it stays below 500 MB (docs/performance.md).
const softMemory = 400 << 20

// boundMemory has the garbage collector keep an import of files of these sizes within
// softMemory, or within twice the largest files that may be at work at once: they
// are held whole, and a limit below them would only cost time. A limit that the
// user set stays. The result takes it back.
func (a *app) boundMemory(sizes map[string]int64) (restore func()) {
	if a.getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	largest := slices.SortedFunc(maps.Values(sizes), func(a, b int64) int { return cmp.Compare(b, a) })
	var atWork int64
	for _, size := range largest[:min(len(largest), runtime.GOMAXPROCS(0))] {
		atWork += size
	}
	before := debug.SetMemoryLimit(max(softMemory, 2*atWork))
	return func() { debug.SetMemoryLimit(before) }
}
