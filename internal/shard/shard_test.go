package shard_test

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fclog/fclog/internal/shard"
)

func TestParse(t *testing.T) {
	t.Parallel()
	s, err := shard.Parse("3/8")
	require.NoError(t, err)
	assert.Equal(t, shard.Shard{Index: 3, Of: 8}, s)
	assert.Equal(t, "3/8", s.String())
	for _, bad := range []string{"", "3", "/", "0/4", "5/4", "-1/4", "1/0", "1/-3", "a/4", "1/b", "1/4/2", " 1/4", "1/1000001"} {
		_, err := shard.Parse(bad)
		assert.Error(t, err, bad)
	}
}

// TestOf: printf %s KEY | sha256sum | cut -c1-16, read as a number, modulo n, plus 1.
func TestOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		key string
		sum string // first 16 digits of the SHA-256, of sha256sum
	}{
		{"a.jsonl", "8d6a6f2da8cffa60"},
		{"2026/03/14/rollout.jsonl", "e8350875a8a28593"},
	} {
		sum, err := strconv.ParseUint(c.sum, 16, 64)
		require.NoError(t, err)
		for _, n := range []uint64{1, 2, 3, 4, 7, 1000} {
			assert.Equal(t, int(sum%n)+1, shard.Of(c.key, int(n)), "%s of %d", c.key, n)
		}
	}
}

// TestEveryKeyHasOneShard: the shards divide the work, whatever their number.
func TestEveryKeyHasOneShard(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.String().Draw(t, "key")
		n := rapid.IntRange(1, 40).Draw(t, "n")
		owners := 0
		for i := 1; i <= n; i++ {
			if (shard.Shard{Index: i, Of: n}).Has(key) {
				owners++
			}
		}
		assert.Equal(t, 1, owners)
	})
	assert.True(t, shard.Shard{}.Has("anything"), "undivided work has everything")
}

// TestShardsAreEven: of 10,000 keys in 10 shards each has 1,000 on average, with a
// standard deviation of √(10,000 · 0.1 · 0.9) = 30; five of those are allowed.
func TestShardsAreEven(t *testing.T) {
	t.Parallel()
	count := map[int]int{}
	for i := range 10_000 {
		count[shard.Of("sessions/"+strconv.Itoa(i)+".jsonl", 10)]++
	}
	for i := 1; i <= 10; i++ {
		assert.InDelta(t, 1000, count[i], 150, "shard %d", i)
	}
}

func TestKey(t *testing.T) {
	t.Parallel()
	path := filepath.FromSlash
	for _, c := range []struct {
		what  string
		named []string
		file  string
		want  string
	}{
		{"in a folder", []string{"/logs"}, "/logs/2026/a.jsonl", "2026/a.jsonl"},
		{"mounted elsewhere", []string{"/mnt/7/logs/"}, "/mnt/7/logs/2026/a.jsonl", "2026/a.jsonl"},
		{"a relative name", []string{"./logs"}, "logs/2026/a.jsonl", "2026/a.jsonl"},
		{"named itself", []string{"/logs/2026/a.jsonl"}, "/logs/2026/a.jsonl", "a.jsonl"},
		{"came with a named file", []string{"/logs/s.jsonl"}, "/logs/s/subagents/agent-1.jsonl", "s/subagents/agent-1.jsonl"},
		{"the innermost folder", []string{"/logs", "/logs/2026"}, "/logs/2026/a.jsonl", "a.jsonl"},
		{"in whatever order", []string{"/logs/2026", "/logs"}, "/logs/2026/a.jsonl", "a.jsonl"},
		{"a name that only begins alike", []string{"/logs", "/logs2"}, "/logs2/a.jsonl", "a.jsonl"},
		{"below none", []string{"/logs/x"}, "/other/a.jsonl", "/other/a.jsonl"},
		{"dots in a name", []string{"/logs"}, "/logs/..a.jsonl", "..a.jsonl"},
	} {
		var named []string
		for _, n := range c.named {
			named = append(named, path(n))
		}
		assert.Equal(t, c.want, shard.Key(named, path(c.file)), c.what)
	}
}

func TestArray(t *testing.T) {
	t.Parallel()
	for want, indices := range map[string][]int{
		"":              nil,
		"4":             {4},
		"1-2":           {1, 2},
		"2,5-7":         {2, 5, 6, 7},
		"1,3,5":         {1, 3, 5},
		"1-3,9,11-4000": append([]int{1, 2, 3, 9}, span(11, 4000)...),
	} {
		assert.Equal(t, want, shard.Array(indices))
	}
}

// TestArrayLosesNothing reads what was written as a scheduler does.
func TestArrayLosesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var indices []int
		for i := range 60 {
			if rapid.Bool().Draw(t, "in") {
				indices = append(indices, i)
			}
		}
		var read []int
		for _, piece := range strings.Split(shard.Array(indices), ",") {
			if piece == "" {
				continue
			}
			from, to, isSpan := strings.Cut(piece, "-")
			if !isSpan {
				to = from
			}
			a, err := strconv.Atoi(from)
			require.NoError(t, err)
			b, err := strconv.Atoi(to)
			require.NoError(t, err)
			read = append(read, span(a, b)...)
		}
		assert.Equal(t, indices, read)
	})
}

func span(from, to int) []int {
	var out []int
	for i := from; i <= to; i++ {
		out = append(out, i)
	}
	return out
}
