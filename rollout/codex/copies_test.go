package codex

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// changed reads a sample after a change of its lines.
func changed(t *testing.T, name string, change func(lines []string) []string) (sums, map[string]int) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "testdata", "codex", name))
	require.NoError(t, err)
	lines := change(strings.Split(strings.TrimSpace(string(raw)), "\n"))
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	s := readOne(t, path)
	kinds := map[string]int{}
	for _, p := range s.Problems {
		kinds[p.Kind] += p.Count
	}
	return sumOf(s), kinds
}

func TestCopiedRecordsCountOnce(t *testing.T) {
	for _, name := range []string{"poll-0.104.jsonl", "code-mode-0.160.jsonl"} {
		records := 0
		want, clean := changed(t, name, func(lines []string) []string { records = len(lines); return lines })
		assert.Zero(t, clean["duplicate-record"], name)
		for how, change := range map[string]func([]string) []string{
			"the file behind itself": func(lines []string) []string { return append(lines, lines...) },
			"every record twice": func(lines []string) []string {
				var out []string
				for _, l := range lines {
					out = append(out, l, l)
				}
				return out
			},
		} {
			got, kinds := changed(t, name, change)
			assert.Equal(t, want, got, "%s: %s", name, how)
			assert.Equal(t, records, kinds["duplicate-record"], "%s: %s", name, how)
		}
	}
}

// The first usage of the sample is 5,000 input tokens: what is impossible is left
// out, what is only written otherwise is read.
func TestOddUsage(t *testing.T) {
	const name = "poll-0.104.jsonl"
	want, _ := changed(t, name, func(lines []string) []string { return lines })
	last := regexp.MustCompile(`("last_token_usage":\{"input_tokens":)(\d+)`)
	set := func(suffix string) func([]string) []string {
		return func(lines []string) []string {
			for i, l := range lines {
				if last.MatchString(l) {
					lines[i] = last.ReplaceAllString(l, "${1}${2}"+suffix)
					break
				}
			}
			return lines
		}
	}
	got, kinds := changed(t, name, set(".0"))
	assert.Equal(t, want, got)
	assert.Zero(t, kinds["usage-inconsistent"])
	for _, suffix := range []string{"000000000000", "00000000000000000000", ".5"} {
		got, kinds = changed(t, name, set(suffix))
		assert.Equal(t, want.requests, got.requests, suffix)
		assert.Less(t, got.input, want.input, suffix)
		assert.Equal(t, 1, kinds["usage-inconsistent"], suffix)
	}
}

func TestBadTimesAreFolded(t *testing.T) {
	stamp := regexp.MustCompile(`^\{"timestamp":"[^"]*"`)
	records := 0
	_, kinds := changed(t, "poll-0.104.jsonl", func(lines []string) []string {
		for i, l := range lines {
			lines[i] = stamp.ReplaceAllString(l, `{"timestamp":"soon"`)
		}
		records = len(lines)
		return lines
	})
	assert.Equal(t, records, kinds["bad-time"])
}
