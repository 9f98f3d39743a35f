package compress

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

func TestLineNumbers(t *testing.T) {
	reminder := "\n\n<system-reminder>\nlook out\n</system-reminder>\n"
	cases := []struct {
		name, text, want string
		lines            int
	}{
		{"padded arrow", "     1→package main\n     2→\n     3→func main() {}", "package main\n\nfunc main() {}", 3},
		{"arrow, padding of the first line trimmed", "9→a\n    10→b\n    11→c", "a\nb\nc", 3},
		{"arrow with a reminder behind", "     1→a\n     2→b\n     3→c" + reminder, "a\nb\nc" + reminder, 3},
		{"arrow behind a heading", "The file x has been updated. Here's the result of running `cat -n`:\n   120→a\n   121→b\n   122→c", "The file x has been updated. Here's the result of running `cat -n`:\na\nb\nc", 3},
		{"tab", "1\tpackage main\n2\t\n3\tfunc main() {}\n", "package main\n\nfunc main() {}\n", 3},
		{"tab behind a partial-view note", "<system-reminder>[Truncated: PARTIAL view]</system-reminder>\n7\ta\n8\tb\n9\tc", "<system-reminder>[Truncated: PARTIAL view]</system-reminder>\na\nb\nc", 3},
		{"padded tab", "Here's the result of running `cat -n` on /x:\n     1\ta\n     2\tb\n     3\t\tc", "Here's the result of running `cat -n` on /x:\na\nb\n\tc", 3},
		{"padded tab in a shell result", "Wall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n    40\ta\n    41\tb\n    42\tc\n", "Wall time: 0.1 seconds\nProcess exited with code 0\nOutput:\na\nb\nc\n", 3},
		{"content element", "<path>/a</path>\n<type>file</type>\n<content>\n1: a\n2: \n3: c\n\n(End of file - total 3 lines)\n</content>", "<path>/a</path>\n<type>file</type>\n<content>\na\n\nc\n\n(End of file - total 3 lines)\n</content>", 3},
		{"content element, blank line first", "<content>\n\n5: a\n6: b\n7: c\n</content>", "<content>\n\na\nb\nc\n</content>", 3},
		{"zero-padded bar", "<file>\n00001| a\n00002| b\n00003| \n</file>", "<file>\na\nb\n\n</file>", 3},
		{"window", "[File: /a (3 lines total)]\n1:a\n2:b\n3:c\n(0 more lines below)", "[File: /a (3 lines total)]\na\nb\nc\n(0 more lines below)", 3},
		{"number, dot", "1. package main\n2. \n3. func main() {}", "package main\n\nfunc main() {}", 3},
		{"read_file", "L1: a\nL2: b\nL3:  c", "a\nb\n c", 3},
		{"two edits", "Edit 1 of `cat -n`:\n     1→a\n     2→b\n     3→c\nEdit 2:\n    10→d\n    11→e\n    12→f", "Edit 1 of `cat -n`:\na\nb\nc\nEdit 2:\nd\ne\nf", 6},
		{"several files", "     1\ta\n     2\tb\n     3\tc\n---\n     7\td\n     8\te\n     9\tf\n", "a\nb\nc\n---\nd\ne\nf\n", 6},
		{"a cut", "     1\ta\n     2\tb\n     3\tc\n…12 tokens truncated…\n    90\td\n    91\te\n    92\tf", "a\nb\nc\n…12 tokens truncated…\nd\ne\nf", 6},
		{"a million lines", "999998\ta\n999999\tb\n1000000\tc", "a\nb\nc", 3},
		{"tab, padding of the first line trimmed", "1\ta\n     2\tb\n     3\tc", "a\nb\nc", 3},
		{"tab with a reminder behind", "1\ta\n2\tb\n3\tc" + reminder, "a\nb\nc" + reminder, 3},
		{"content element, cut by the harness", "<content>\n1: a\n2: b\n3: c\n\n... [truncated 40000 chars total — use] ...\n\n7: d\n8: e\n9: f\n\n(End of file - total 9 lines)\n</content>", "<content>\na\nb\nc\n\n... [truncated 40000 chars total — use] ...\n\nd\ne\nf\n\n(End of file - total 9 lines)\n</content>", 6},
		{"content element, a range", "<content>\n5: a\n6: b\n7: c\n\n(Showing lines 5-7 of 20. Use offset=8 to continue.)\n</content>", "<content>\na\nb\nc\n\n(Showing lines 5-7 of 20. Use offset=8 to continue.)\n</content>", 3},
		{"window with lines above", "[File: /a (9 lines total)]\n(3 more lines above)\n4:a\n5:b\n6:c\n(3 more lines below)", "[File: /a (9 lines total)]\n(3 more lines above)\na\nb\nc\n(3 more lines below)", 3},
		{"outline", "<NOTE>Too large, so only an abbreviated version is shown.</NOTE>\n     1 def f():\n     2 ... eliding lines 2-8 ...\n     9 def g():\n    10     pass", "<NOTE>Too large, so only an abbreviated version is shown.</NOTE>\ndef f():\n... eliding lines 2-8 ...\ndef g():\n    pass", 4},
		{"outline, gaps without numbers", "An abbreviated version of the file:\n     1 def f():\n... eliding lines 2-8 ...\n     9 def g():", "An abbreviated version of the file:\ndef f():\n... eliding lines 2-8 ...\ndef g():", 2},
		{"read_file of many lines", "L10: a\nL11: b\nL12: c\nL13: d\nL14: e\nL15: f\nL16: g\nL17: h\nL18: i", "a\nb\nc\nd\ne\nf\ng\nh\ni", 9},
		{"only the outer number goes", "     1→1→a\n     2→2→b\n     3→3→c", "1→a\n2→b\n3→c", 3},
	}
	for _, c := range cases {
		stripped, lines, ok := LineNumbers(c.text)
		assert.True(t, ok, c.name)
		assert.Equal(t, c.want, stripped, c.name)
		assert.Equal(t, c.lines, lines, c.name)
	}
}

func TestLineNumbersLeavesDataAlone(t *testing.T) {
	cases := map[string]string{
		"empty":                     "",
		"two lines":                 "     1→a\n     2→b",
		"gap":                       "     1→a\n     3→b\n     5→c",
		"falling":                   "3\ta\n2\tb\n1\tc",
		"CSV":                       "1,a,b\n2,c,d\n3,e,f",
		"log with times":            "10:00:01 start\n10:00:02 go\n10:00:03 end",
		"table with an ID column":   "1\tann\t33\n2\tbob\t44\n3\teve\t55",
		"YAML mapping":              "1: one\n2: two\n3: three",
		"diff":                      "@@ -1,3 +1,3 @@\n-1: a\n+1: b\n 2: c",
		"numbered list":             "1. buy milk\n2. go home\n3. sleep",
		"list in a text":            "Steps:\n1. a\n2. b\n3. c\nDone.",
		"search with numbers":       "10:foo\n11:bar\n12:baz",
		"numbers then other text":   "1\ta\n2\tb\n3\tc\nplain text follows",
		"plain numbers":             "1\n2\n3\n4",
		"two columns, tab":          "1\tann\n2\tbob\n3\teve",
		"log with a counter":        "1: start\n2: go\n3: end",
		"log with [n]":              "[1] start\n[2] go\n[3] end",
		"YAML inside content":       "<content>\nids:\n1: one\n2: two\n3: three\n\n(End of file - total 4 lines)\n</content>",
		"YAML first inside content": "<content>\n1: one\n2: two\n3: three\nrest: x\n\n(End of file - total 4 lines)\n</content>",
		"YAML of another range":     "<content>\n1: one\n2: two\n3: three\n\n(Showing lines 7-9 of 20. Use offset=10 to continue.)\n</content>",
		"list, two spaces":          "1.  buy milk\n2.  go home\n3.  sleep",
		"list over nine, aligned":   "8.  a\n9.  b\n10. c\n11. d",
		"list with nested points":   "1. a\n   - b\n2. c\n3. d",
		"headings":                  "1. Scope\n\n2. Terms\n\n3. Rules",
		"JSON array":                "[\n1,\n2,\n3\n]",
		"JSON pretty with numbers":  "{\n  \"1\": 2,\n  \"2\": 3\n}",
		"Markdown table":            "| 1 | a |\n| 2 | b |\n| 3 | c |",
		"table with bars":           "1| a\n2| b\n3| c",
		"unified diff":              "@@ -1,3 +1,3 @@\n      1\ta\n-     2\tb\n+     2\tc\n      3\td",
		"FreeCode's numbered diff":  "   1 a\n-  2 b\n+  2 c\n   3 d",
		"uniq -c":                   "      1 a\n      2 b\n      3 c",
		"wc -l":                     "   1 a.go\n   2 b.go\n   3 total",
		"search with one file":      "1:foo\n2:foo\n3:foo",
		"search with paths":         "a.go:1:foo\na.go:2:foo\na.go:3:foo",
		"search, labelled":          "File: a.go\nL1: foo\nL2: foo\nL3: foo",
		"labels":                    "L1: 32K\nL2: 1M\nL3: 8M",
		"TAP":                       "1..3\nok 1 - a\nok 2 - b\nok 3 - c",
		"subtitles":                 "1\n00:00:01 --> 00:00:02\na\n\n2\n00:00:03 --> 00:00:04\nb",
		"BASIC":                     "10 PRINT\n11 GOTO 10\n12 END",
		"hex dump":                  "00000000: 6162\n00000010: 6364\n00000020: 6566",
		"shell history":             "    1  ls\n    2  pwd\n    3  cd",
		"dates":                     "2024-01-01: a\n2024-01-02: b\n2024-01-03: c",
		"years":                     "1999: a\n2000: b\n2001: c",
		"process list":              "    1 init\n    2 kthreadd\n    3 rcu",
		"a sample in a document":    "How cat -n looks.\n\n     1\ta\n     2\tb\n     3\tc\n\nThen more text.\nAnd more.\nAnd more.",
		"outline without its note":  "     1 a\n     2 b\n     3 c",
	}
	for name, text := range cases {
		stripped, lines, ok := LineNumbers(text)
		assert.False(t, ok, name)
		assert.Equal(t, text, stripped, name)
		assert.Zero(t, lines, name)
	}
}

// Numbering any text and stripping it again gives the text back.
func TestLineNumbersRoundTrip(t *testing.T) {
	styles := map[string]struct{ before, format, after string }{
		"arrow":   {"", "%6d→%s", ""},
		"bar":     {"<file>\n", "%05d| %s", "\n</file>"},
		"content": {"<content>\n", "%d: %s", "\n</content>"},
		"window":  {"[File: /a (9 lines total)]\n", "%d:%s", "\n(9 more lines below)"},
		"cat -n":  {"", "%6d\t%s", ""},
		"shell":   {"Wall time: 0.1 seconds\nOutput:\n", "%6d\t%s", ""},
		"partial": {"<system-reminder>[Truncated: PARTIAL view]</system-reminder>\n", "%d\t%s", ""},
	}
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.StringMatching(`[ a-z0-9:.|→\t]{0,10}`), 3, 12).Draw(t, "lines")
		first := rapid.IntRange(1, 99990).Draw(t, "first")
		for name, s := range styles {
			numbered := make([]string, len(lines))
			for i, line := range lines {
				numbered[i] = fmt.Sprintf(s.format, first+i, line)
			}
			text := s.before + strings.Join(numbered, "\n") + s.after
			stripped, n, ok := LineNumbers(text)
			if name == "partial" && isTable(lines) {
				assert.Equal(t, text, stripped, "a table whose first column counts stays")
				continue
			}
			assert.True(t, ok, name)
			assert.Equal(t, len(lines), n, name)
			assert.Equal(t, s.before+strings.Join(lines, "\n")+s.after, stripped, name)
		}
	})
}

// isTable says whether lines have the columns of a table: tabs, the same number in
// every line, and something in the first column.
func isTable(lines []string) bool {
	columns := strings.Count(lines[0], "\t")
	for _, line := range lines {
		if strings.Count(line, "\t") != columns || line == "" || line[0] == '\t' || line[0] == ' ' {
			return false
		}
	}
	return columns > 0
}

// Whatever the text, only line beginnings go, and no line is lost.
func TestLineNumbersOnlyCutsLineBeginnings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`([ ]{0,5}[0-9]{1,2}(→|\t|: |:|\. )?[a-z ]{0,4}\n){0,12}`).Draw(t, "text")
		stripped, lines, ok := LineNumbers(text)
		before, after := strings.Split(text, "\n"), strings.Split(stripped, "\n")
		if !assert.Equal(t, len(before), len(after)) {
			return
		}
		cut := 0
		for i := range before {
			assert.True(t, strings.HasSuffix(before[i], after[i]))
			if before[i] != after[i] {
				cut++
			}
		}
		assert.Equal(t, lines, cut)
		assert.Equal(t, ok, cut > 0)
	})
}

func FuzzLineNumbers(f *testing.F) {
	f.Add("     1→a\n     2→b\n     3→c")
	f.Add("1\ta\n2\tb\n3\tc\n99999999999999999999\td")
	f.Fuzz(func(t *testing.T, text string) {
		if stripped, lines, ok := LineNumbers(text); ok != (lines > 0) || len(stripped) > len(text) {
			t.Fatal("inconsistent")
		}
	})
}

// TestAnyNumbered: no form of a number is passed over unseen, wherever it stands.
func TestAnyNumbered(t *testing.T) {
	for _, f := range forms {
		for _, text := range []string{f.lead + "7" + f.mark + "x", "a\n\n" + strings.Repeat(" ", f.padding) + f.lead + "12" + f.mark, "  b\n" + f.lead + "1" + f.mark + "\n"} {
			assert.True(t, anyNumbered(text), "%q", text)
		}
	}
	for _, text := range []string{"", "\n", "a 1\n b2\nLine\n\t3\n", "   ", "L", "no\n"} {
		assert.False(t, anyNumbered(text), "%q", text)
	}
}
