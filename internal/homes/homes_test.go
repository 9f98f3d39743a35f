package homes

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/formats"
)

// With many sessions the quantiles are those of the curve: of 10,000 sizes the
// 5,000th, 9,000th and 9,900th, within 2 %.
func TestSizesFollowTheCurve(t *testing.T) {
	sizes := Sizes(6_300_000_000)
	slices.Sort(sizes)
	n := len(sizes)
	require.Greater(t, n, 9000)
	sum := int64(0)
	for _, s := range sizes {
		sum += s
	}
	assert.InEpsilon(t, 6_300_000_000, sum, .001)
	assert.InEpsilon(t, 105e3, sizes[n/2], .02)
	assert.InEpsilon(t, 654e3, sizes[n*9/10], .02)
	assert.InEpsilon(t, 5.4e6, sizes[n*99/100], .02)
	assert.InEpsilon(t, 87e6, sizes[n-1], .04)
}

func TestEqualOptionsGiveEqualBytes(t *testing.T) {
	for _, agent := range []string{"claude-code", "codex", "freecode"} {
		one, two, other := t.TempDir(), t.TempDir(), t.TempDir()
		o := Options{Agent: agent, Bytes: 300_000, Seed: 7}
		a, err := Write(one, o)
		require.NoError(t, err)
		b, err := Write(two, o)
		require.NoError(t, err)
		require.Equal(t, len(a), len(b))
		for i := range a {
			x, err := os.ReadFile(a[i])
			require.NoError(t, err)
			y, err := os.ReadFile(b[i])
			require.NoError(t, err)
			assert.Equal(t, relative(t, one, a[i]), relative(t, two, b[i]))
			assert.True(t, string(x) == string(y), a[i])
		}
		o.Seed = 8
		c, err := Write(other, o)
		require.NoError(t, err)
		assert.NotEqual(t, relative(t, one, a[0]), relative(t, other, c[0]))
	}
}

func relative(t *testing.T, dir, path string) string {
	out, err := filepath.Rel(dir, path)
	require.NoError(t, err)
	return out
}

// The readers take every record, find nothing wrong, and no two sessions or
// responses have the same ID, so that nothing collapses.
func TestReadersTakeHomes(t *testing.T) {
	for _, agent := range []string{"claude-code", "codex", "freecode"} {
		t.Run(agent, func(t *testing.T) {
			dir := t.TempDir()
			paths, err := Write(dir, Options{Agent: agent, Bytes: 3_000_000, Seed: 1})
			require.NoError(t, err)
			files, _, err := formats.Expand(t.Context(), []string{dir})
			require.NoError(t, err)
			require.Len(t, files, len(paths))
			sessions, responses := map[string]bool{}, map[string]bool{}
			for _, f := range files {
				assert.Equal(t, agent, f.Format.Name)
				list, err := f.Format.Read(t.Context(), f.Path)
				require.NoError(t, err)
				require.Len(t, list, 1)
				checkSession(t, list[0], responses)
				assert.False(t, sessions[list[0].ID])
				sessions[list[0].ID] = true
			}
			assert.Greater(t, len(responses), 50)
		})
	}
}

func checkSession(t *testing.T, s *rollout.Session, responses map[string]bool) {
	for _, p := range s.Problems {
		assert.Contains(t, []string{"message-count", "other-budget", "recompute-mismatch", "usage-without-response"}, p.Kind, "%+v", p)
	}
	assert.NotEmpty(t, s.Requests)
	for _, r := range s.Requests {
		require.NotNil(t, r.Usage.Input)
		key := r.ID
		if key == "" {
			key = s.ID + r.Time.String()
		}
		assert.False(t, responses[key], key)
		responses[key] = true
	}
}
