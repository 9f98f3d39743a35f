package page

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var colour = regexp.MustCompile(`--([a-z_]+): #([0-9a-f]{6})`)

// colours are the colours of the light and of the dark scheme.
func colours(t *testing.T) [2]map[string]string {
	t.Helper()
	light, dark, found := strings.Cut(style, "@media screen and (prefers-color-scheme: dark)")
	require.True(t, found)
	dark, _, _ = strings.Cut(dark, "* { box-sizing")
	var out [2]map[string]string
	for i, part := range []string{light, dark} {
		out[i] = map[string]string{}
		for _, m := range colour.FindAllStringSubmatch(part, -1) {
			out[i][m[1]] = m[2]
		}
	}
	return out
}

// luminance is the relative luminance of WCAG 2.1.
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(hex[2*i:2*i+2], 16, 8)
		require.NoError(t, err)
		v := float64(n) / 255
		if v <= 0.03928 {
			v /= 12.92
		} else {
			v = math.Pow((v+0.055)/1.055, 2.4)
		}
		sum += weight * v
	}
	return sum
}

func contrast(t *testing.T, x, y string) float64 {
	t.Helper()
	a, b := luminance(t, x), luminance(t, y)
	return (max(a, b) + 0.05) / (min(a, b) + 0.05)
}

func TestContrast(t *testing.T) {
	assert.InDelta(t, 21, contrast(t, "000000", "ffffff"), 1e-9)
	kinds := []string{"tool_result", "tool_call", "assistant_text", "reasoning", "user_text", "system_prompt", "tool_definitions",
		"project_context", "reminder", "summary", "image", "framing", "unlogged", "other"}
	for i, scheme := range colours(t) {
		name := []string{"light", "dark"}[i]
		for _, text := range []string{"fg", "dim", "link"} {
			for _, behind := range []string{"bg", "soft"} {
				assert.GreaterOrEqual(t, contrast(t, scheme[text], scheme[behind]), 4.5, "%s: %s on %s", name, text, behind)
			}
		}
		for _, kind := range kinds {
			assert.GreaterOrEqual(t, contrast(t, scheme["on"], scheme[kind]), 4.5, "%s: names on %s", name, kind)
		}
		for _, mark := range append(kinds, "break", "poll", "border", "compaction", "good", "bad", "grid") {
			assert.GreaterOrEqual(t, contrast(t, scheme[mark], scheme["bg"]), 3.0, "%s: %s", name, mark)
		}
	}
}
