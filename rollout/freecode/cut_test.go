package freecode

import (
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestCutKeepsShortText(t *testing.T) {
	exact := strings.Repeat("x", 30_000)
	assert.Equal(t, exact, cut(exact, "c"))
	// 15,000 characters outside the basic plane are 30,000 code units.
	assert.Equal(t, strings.Repeat("😀", 15_000), cut(strings.Repeat("😀", 15_000), "c"))
	assert.NotEqual(t, strings.Repeat("😀", 15_001), cut(strings.Repeat("😀", 15_001), "c"))
}

func TestCutAtLineBreaks(t *testing.T) {
	// Lines of 100 characters: the break at or before 24,000 is at 23,999, the
	// first one at or after 40,000 - 6,000 is at 34,099 - 100 = 33,999 + 100.
	full := strings.Repeat(strings.Repeat("a", 99)+"\n", 400)
	want := full[:23_999] +
		"\n\n... [truncated 40000 chars total — use the `output` tool with id=\"call_1\" (offset, limit, or pattern) to read the omitted middle] ...\n\n" +
		full[34_100:]
	assert.Equal(t, want, cut(full, "call_1"))
	assert.Equal(t, "call_1", cutCallID(want, full))
	assert.Empty(t, cutCallID(want, full+"x"), "another output")
	assert.Empty(t, cutCallID("short", "short"))
}

func TestCutWithoutLineBreaks(t *testing.T) {
	full := strings.Repeat("b", 31_000)
	got := cut(full, "i")
	head, rest, ok := strings.Cut(got, "\n\n... [truncated 31000 chars total")
	require.True(t, ok)
	_, tail, _ := strings.Cut(rest, "] ...\n\n")
	assert.Len(t, head, 24_000)
	assert.Len(t, tail, 6_000)
}

func TestCutSplitsPairLikeJavaScript(t *testing.T) {
	// One character before pairs of units: both cuts fall into a pair.
	got := cut("x"+strings.Repeat("😀", 16_000), "i")
	head, _, _ := strings.Cut(got, "\n\n...")
	assert.True(t, strings.HasSuffix(head, "😀\uFFFD"))
}

// TestCutProperties checks the rule against its wording on any text.
func TestCutProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.SampledFrom([]string{"a", "line\n", "é", "😀", "\n", "word "})
		full := strings.Repeat(strings.Join(rapid.SliceOfN(unit, 1, 40).Draw(t, "text"), ""), rapid.IntRange(1, 3000).Draw(t, "times"))
		u := utf16.Encode([]rune(full))
		got := cut(full, "call_x")
		if len(u) <= 30_000 {
			require.Equal(t, full, got)
			return
		}
		require.Equal(t, "call_x", cutCallID(got, full))
		head, tail, total := split(full)
		require.Equal(t, len(u), total)
		headUnits, tailUnits := len(utf16.Encode([]rune(head))), len(utf16.Encode([]rune(tail)))
		require.LessOrEqual(t, headUnits, 24_000)
		require.LessOrEqual(t, tailUnits, 6_000)
		require.NotContains(t, string(utf16.Decode(u[headUnits+1:24_001])), "\n", "a later break before 24,000")
		skipped := string(utf16.Decode(u[len(u)-6_000 : len(u)-tailUnits]))
		if tailUnits < 6_000 {
			require.Equal(t, len(skipped)-1, strings.Index(skipped, "\n"), "the tail starts behind the first break")
		}
	})
}
