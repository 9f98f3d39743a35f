package compress

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// labelled is a line of testdata/commands.tsv.
type labelled struct {
	command string
	kind    Kind
}

func labels(t testing.TB) []labelled {
	t.Helper()
	f, err := os.Open("testdata/commands.tsv")
	require.NoError(t, err)
	defer f.Close()
	unescape := strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t")
	var out []labelled
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		fields := strings.Split(lines.Text(), "\t")
		require.Len(t, fields, 3, lines.Text())
		require.Contains(t, []Kind{Source, Search, Log, Other}, Kind(fields[1]), lines.Text())
		out = append(out, labelled{unescape.Replace(fields[0]), Kind(fields[1])})
	}
	return out
}

// score counts, per kind, how often it was said, was so, and both.
type score struct{ said, is, both map[Kind]int }

func scored(p Profile, all []labelled) score {
	s := score{map[Kind]int{}, map[Kind]int{}, map[Kind]int{}}
	for _, l := range all {
		got := p.Classify(l.command)
		s.said[got]++
		s.is[l.kind]++
		if got == l.kind {
			s.both[got]++
		}
	}
	return s
}

func share(part, whole int) string {
	if whole == 0 {
		return "–"
	}
	return fmt.Sprintf("%.3f (%d/%d)", float64(part)/float64(whole), part, whole)
}

func TestCarefulPrecision(t *testing.T) {
	all := labels(t)
	require.GreaterOrEqual(t, len(all), 200)
	for _, p := range Profiles() {
		s := scored(p, all)
		for _, k := range []Kind{Source, Search, Log, Other} {
			t.Logf("%-8s %-6s precision %-16s recall %s", p.Name, k, share(s.both[k], s.said[k]), share(s.both[k], s.is[k]))
		}
	}
	s := scored(Careful(), all)
	for _, k := range []Kind{Source, Search} {
		assert.GreaterOrEqual(t, float64(s.both[k]), 0.98*float64(s.said[k]), "precision of %s", k)
	}
	for _, l := range all {
		got := Careful().Classify(l.command)
		if got != l.kind {
			t.Logf("%s, is %s: %q", got, l.kind, l.command)
		}
		if l.kind == Source {
			assert.NotContains(t, []Kind{Search, Log}, got, "text of files would be touched: %q", l.command)
		}
	}
}
