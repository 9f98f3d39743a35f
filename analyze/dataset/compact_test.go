package dataset

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fclog/fclog/internal/shard"
)

// small are limits that a few short logs exceed.
var small = limits{pack: 9000, merged: 120, runs: 2}

// Whatever was imported when, in what order, by how many and between how many merges:
// merged, the dataset is that of one import of all logs as they are now.
func TestCompactDependsOnThePartsAlone(t *testing.T) {
	fewerChecks(t, "20")
	rapid.Check(t, func(rt *rapid.T) {
		root, err := os.MkdirTemp(t.TempDir(), "split")
		require.NoError(rt, err)
		defer os.RemoveAll(root)
		logs, split, whole := filepath.Join(root, "logs"), filepath.Join(root, "split"), filepath.Join(root, "whole")
		var inputs []Input
		contents := map[string]string{}
		for i := range rapid.IntRange(1, 14).Draw(rt, "logs") {
			day := rapid.SampledFrom([]int{0, 1, 40}).Draw(rt, "day")
			lines := rapid.IntRange(1, 6).Draw(rt, "lines")
			name := fmt.Sprint("log", i)
			contents[name] = fmt.Sprintf("log S%d %d\n%s", i, day, strings.Repeat(fmt.Sprintf("said in %d\n", i), lines))
			inputs = append(inputs, logFile(t, logs, name, contents[name]))
		}
		for range rapid.IntRange(0, 4).Draw(rt, "imports before") {
			some := rapid.SliceOfDistinct(rapid.SampledFrom(inputs), func(in Input) string { return in.Path }).Draw(rt, "some")
			bring(rt, split, some, rapid.Bool().Draw(rt, "by shards"))
			if len(some) > 0 && rapid.Bool().Draw(rt, "one grows") {
				name := filepath.Base(some[0].Path)
				contents[name] += "and more\n"
				logFile(t, logs, name, contents[name])
			}
			if rapid.Bool().Draw(rt, "merge between") {
				require.NoError(rt, compact(context.Background(), split, small))
			}
		}
		bring(rt, split, rapid.Permutation(inputs).Draw(rt, "order"), false)
		bring(rt, whole, inputs, false)
		require.NoError(rt, compact(context.Background(), split, small))
		require.NoError(rt, compact(context.Background(), whole, small))
		assert.Equal(rt, tree(t, whole), tree(t, split))
	})
}

func bring(t require.TestingT, dir string, inputs []Input, shards bool) {
	o := Options{Scratch: true, limits: small}
	if shards {
		o.Shard = shard.Shard{Index: 1, Of: 1}
	}
	sum, err := Import(context.Background(), dir, inputs, o)
	require.NoError(t, err)
	require.Empty(t, sum.Failed)
}

// fewerChecks makes a slow property check fewer cases, unless told otherwise.
func fewerChecks(t *testing.T, n string) {
	checks := flag.Lookup("rapid.checks")
	if checks == nil || checks.Value.String() != checks.DefValue {
		return
	}
	require.NoError(t, flag.Set("rapid.checks", n))
	t.Cleanup(func() { _ = flag.Set("rapid.checks", checks.DefValue) })
}

// Parts stand in the order of their names; a file is cut before the logs of its parts
// exceed the limit, and a part is never cut.
func TestBins(t *testing.T) {
	at := func(part string, bytes int64) committed {
		return committed{part: part, bytes: bytes, place: place{"codex", "2026-01", "any"}}
	}
	// a 3 + b 4 = 7 <= 10, + c 4 = 11; c 4 + d 6 = 10; e is too large by itself; f.
	got := bins([]committed{at("f", 1), at("e", 99), at("d", 6), at("c", 4), at("b", 4), at("b", 4), at("a", 3)}, 10)
	var parts []string
	for _, b := range got {
		assert.Equal(t, stemOf(b.parts), b.place.stem)
		assert.Equal(t, place{"codex", "2026-01", ""}, b.place.partition())
		parts = append(parts, strings.Join(b.parts, " "))
	}
	assert.Equal(t, []string{"a b", "c d", "e", "f"}, parts)
	assert.Equal(t, "e", got[2].place.stem)
	assert.NotEqual(t, got[0].place.stem, got[1].place.stem)
}

// What waits is written when it exceeds the limit, the largest month first, and
// depends on the order of the files alone.
func TestPacksDependOnTheFilesAlone(t *testing.T) {
	logs := t.TempDir()
	var inputs []Input
	for i := range 40 {
		inputs = append(inputs, logFile(t, logs, fmt.Sprintf("f%02d", i), fmt.Sprintf("log S%d %d\nwords of %d\n", i, 1+40*(i%2), i)))
	}
	first := t.TempDir()
	_, err := Import(t.Context(), first, inputs, Options{limits: small})
	require.NoError(t, err)
	n := len(parts(t, first))
	assert.Greater(t, n, 2)
	assert.Less(t, n, 20)
	for range 3 {
		again := t.TempDir()
		slices.Reverse(inputs)
		_, err := Import(t.Context(), again, inputs, Options{limits: small})
		require.NoError(t, err)
		assert.Equal(t, tree(t, first), tree(t, again))
	}
}

// A pack that lost most of its rows is written anew, also one that a killed import
// left so.
func TestRowsThatCountNowhereAreFew(t *testing.T) {
	logs, dir := t.TempDir(), t.TempDir()
	var inputs []Input
	for i := range 5 {
		inputs = append(inputs, logFile(t, logs, fmt.Sprint("f", i), fmt.Sprintf("log S%d 1\none %d\n", i, i)))
	}
	importInto(t, dir, inputs...)
	grow := func(i int) Input {
		return logFile(t, logs, fmt.Sprint("f", i), fmt.Sprintf("log S%d 1\none %d\ntwo\n", i, i))
	}
	assert.Equal(t, Summary{Replaced: 1, Sessions: 1}, importInto(t, dir, grow(0)))
	assert.Len(t, all[Request](t, dir, "requests"), 5+2, "one of five is dead")
	assert.Equal(t, Summary{Replaced: 2, Sessions: 2}, importInto(t, dir, grow(1), grow(2)))
	assert.Len(t, all[Request](t, dir, "requests"), 2+2*3, "three of five would be")
	assert.Len(t, all[Session](t, dir, "sessions"), 5)
	assert.Equal(t, Summary{Unchanged: 2}, importInto(t, dir, inputs[3], inputs[4]), "known to stand elsewhere")
	assert.Equal(t, Summary{Unchanged: 2}, importInto(t, dir, grow(0), grow(1)))
}
