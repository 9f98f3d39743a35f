package apilog

import (
	"encoding/json"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/devdata"
	"github.com/fclog/fclog/rollout"
)

// streamed sums a count over the response streams of a log: of each stream the
// last place where it stands, found as text.
func streamed(t *testing.T, path, name string) int64 {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	pattern := regexp.MustCompile(`"` + name + `": ?(\d+)`)
	total := int64(0)
	for line := range strings.Lines(string(data)) {
		var pair struct {
			Response struct {
				Raw string `json:"body_raw"`
			} `json:"response"`
		}
		require.NoError(t, json.Unmarshal([]byte(line), &pair))
		if m := pattern.FindAllStringSubmatch(pair.Response.Raw, -1); m != nil {
			n, err := strconv.ParseInt(m[len(m)-1][1], 10, 64)
			require.NoError(t, err)
			total += n
		}
	}
	return total
}

// TestRealTotals holds the sums against the numbers that stand in the streams.
func TestRealTotals(t *testing.T) {
	path := devdata.Dir(t, "api-log", "rec-opencode-compact.jsonl")
	got := sumUp(read(t, path))
	assert.Equal(t, []int64{streamed(t, path, "prompt_tokens"), streamed(t, path, "cached_tokens"), streamed(t, path, "completion_tokens")}, []int64{got.input, got.read, got.output})
	assert.Equal(t, []int{2, 26}, []int{got.sessions, got.requests})

	path = devdata.Dir(t, "api-log", "rec-pi-anthropic.jsonl")
	got = sumUp(read(t, path))
	read, write := streamed(t, path, "cache_read_input_tokens"), streamed(t, path, "cache_creation_input_tokens")
	assert.Equal(t, []int64{streamed(t, path, "input_tokens") + read + write, read, write, streamed(t, path, "output_tokens")}, []int64{got.input, got.read, got.write, got.output})
	assert.Equal(t, []int{1, 16}, []int{got.sessions, got.requests})
}

// TestRealSessions: the calls of a title and of a summary and the sub-agent are
// told apart in a log that names no session, and nothing is left unexplained.
func TestRealSessions(t *testing.T) {
	sessions := read(t, devdata.Dir(t, "api-log", "rec-opencode-compact.jsonl"))
	require.Len(t, sessions, 2)
	main, sub := sessions[0], sessions[1]
	count := map[rollout.RequestKind]int{}
	for _, r := range main.Requests {
		count[r.Kind]++
	}
	assert.Equal(t, map[rollout.RequestKind]int{rollout.KindTurn: 20, rollout.KindTitle: 1, rollout.KindCompaction: 1}, count)
	assert.Equal(t, main.ID, sub.ParentID)
	assert.Equal(t, sub.ID, byID(main)[sub.ParentCall].Child)
	for _, s := range sessions {
		assert.Empty(t, s.Problems)
		assert.Empty(t, s.Missing)
		for _, it := range s.Items {
			if it.Role == rollout.RoleAssistant {
				assert.GreaterOrEqual(t, it.Request, 0)
			}
		}
	}
}
