package prompts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/rollout"
)

func TestRulesHoldTheirTexts(t *testing.T) {
	rules, err := Rules()
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(rules), 8)
	for _, r := range rules {
		require.NotEmpty(t, r.Title, r.ID)
		require.NotEmpty(t, r.Why, r.ID)
		require.NotEmpty(t, r.Passes, r.ID)
		require.NotEmpty(t, r.Fails, r.ID)
		for _, text := range r.Passes {
			assert.True(t, r.Holds(text), "%s should pass: %s", r.ID, text)
		}
		for _, text := range r.Fails {
			assert.False(t, r.Holds(text), "%s should fail: %s", r.ID, text)
		}
		require.NotEmpty(t, r.Turned, r.ID)
		for _, text := range r.Turned {
			assert.False(t, r.Holds(text), "%s should fail: %s", r.ID, text)
			_, against := r.Contradicted(text)
			assert.True(t, against, "%s should be contradicted: %s", r.ID, text)
		}
		for _, text := range r.Passes {
			for _, turned := range r.Turned {
				losses := CheckRules([]Rule{r}, text, text+"\n\n"+turned)
				require.Len(t, losses, 1, "%s: %s", r.ID, turned)
				assert.NotEmpty(t, losses[0].Contradiction)
			}
		}
	}
}

const blockingSentence = "Requesting input from the user is a blocking action."

// The sentence tells the model what a question costs; it says nothing of what to
// do with an action that was refused.
func TestBlockingSentence(t *testing.T) {
	rules := byID(t)
	assert.True(t, rules["asking-blocks"].Holds(blockingSentence))
	assert.False(t, rules["report-blocked"].Holds(blockingSentence))

	losses := CheckRules(all(t), "Be concise. "+blockingSentence, "Be concise.")
	require.Len(t, losses, 1)
	assert.Equal(t, "asking-blocks", losses[0].Rule)
	assert.Equal(t, blockingSentence, losses[0].Sentence)

	base := "If an action is blocked, report it instead of asking."
	losses = CheckRules(all(t), base, blockingSentence)
	require.Len(t, losses, 1)
	assert.Equal(t, "report-blocked", losses[0].Rule)
	assert.Equal(t, base, losses[0].Sentence)
}

func TestCheck(t *testing.T) {
	cases := []struct {
		name, base, variant string
		want                []Loss // rule, sentence and contradiction only
	}{
		{name: "same text", base: "Do not poll.", variant: "Do not poll."},
		{name: "other words", base: "Do not poll background tasks.", variant: "Never sleep to wait for a task."},
		{name: "rule the base never had", base: "Hello.", variant: "Bye."},
		{
			name: "gone", base: "Write tests. Make independent calls in parallel.", variant: "Write tests.",
			want: []Loss{{Rule: "parallel-calls", Sentence: "Make independent calls in parallel."}},
		},
		{
			name: "kept and contradicted", base: "Make independent calls in parallel.",
			variant: "Make independent calls in parallel. Make one call at a time.",
			want:    []Loss{{Rule: "parallel-calls", Sentence: "Make independent calls in parallel.", Contradiction: "Make one call at a time."}},
		},
		{
			name: "contradicted only", base: "Hello.", variant: "Make one call at a time.",
			want: []Loss{{Rule: "parallel-calls", Contradiction: "Make one call at a time."}},
		},
		{
			name: "contradicted before, gone now", base: "Do not poll. Poll the build.", variant: "Poll the build.",
			want: []Loss{{Rule: "no-poll", Sentence: "Do not poll."}},
		},
		{
			name: "a limit is no contradiction", base: "Make independent calls in parallel. Use the edit tool, not full rewrites.",
			variant: "Make independent calls in parallel. If calls depend on earlier ones, do not make them in parallel. " +
				"Never chain commands together. Use the edit tool, not full rewrites. Do not use the edit tool for generated files.",
		},
		{name: "contradicted before too", base: "Make one call at a time.", variant: "Make one call at a time."},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			losses, err := Check(c.base, c.variant)
			require.NoError(t, err)
			require.Len(t, losses, len(c.want))
			for i, want := range c.want {
				got := losses[i]
				assert.Equal(t, want, Loss{Rule: got.Rule, Sentence: got.Sentence, Contradiction: got.Contradiction})
			}
		})
	}
}

func TestShippedVariants(t *testing.T) {
	shipped := map[string]Variant{}
	list, err := Shipped()
	require.NoError(t, err)
	for _, v := range list {
		assert.NotEmpty(t, v.Title, v.Name)
		shipped[v.Name] = v
	}
	for _, r := range all(t) {
		assert.True(t, r.Holds(shipped["agent"].Text), "agent lacks %s", r.ID)
		assert.True(t, r.Holds(shipped["lean"].Text), "lean lacks %s", r.ID)
		assert.False(t, r.Holds(shipped["ask-first"].Text), "ask-first holds %s", r.ID)
	}
	assert.Empty(t, CheckRules(all(t), shipped["agent"].Text, shipped["lean"].Text))
	assert.Len(t, CheckRules(all(t), shipped["agent"].Text, shipped["ask-first"].Text), len(all(t)))
	base := shipped["agent"].Text
	assert.Equal(t, base+"\n\n"+shipped["parallel"].Text, shipped["parallel"].Over(base))
	assert.Empty(t, CheckRules(all(t), base, shipped["parallel"].Over(base)))
}

func TestParse(t *testing.T) {
	cases := []struct {
		name, data string
		want       Variant
		wrong      string
	}{
		{name: "no front matter", data: "Be brief.\n", want: Variant{Name: "p", Replaces: System, Text: "Be brief.\n"}},
		{name: "front matter", data: "---\ntitle: \"T: x\"\nreplaces: tools\n---\nA\n---\nB", want: Variant{Name: "p", Title: "T: x", Replaces: Tools, Text: "A\n---\nB"}},
		{name: "line ends of Windows", data: "---\r\ntitle: T\r\n---\r\nA\r\n", want: Variant{Name: "p", Title: "T", Replaces: System, Text: "A\r\n"}},
		{name: "empty", data: "", want: Variant{Name: "p", Replaces: System}},
		{name: "not UTF-8", data: "a\xffb", want: Variant{Name: "p", Replaces: System, Text: "a\uFFFDb"}},
		{name: "open front matter", data: "---\ntitle: T\n", wrong: "does not end"},
		{name: "unknown key", data: "---\nauthor: x\n---\n", wrong: "author"},
		{name: "unknown target", data: "---\nreplaces: all\n---\n", wrong: "replaces"},
		{name: "no colon", data: "---\ntitle\n---\n", wrong: "colon"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			v, err := Parse("dir/p.md", []byte(c.data))
			if c.wrong != "" {
				require.ErrorContains(t, err, c.wrong)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, v)
		})
	}
}

func TestOpen(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine.txt")
	require.NoError(t, os.WriteFile(file, []byte("Mine."), 0o600))
	v, err := Open(file)
	require.NoError(t, err)
	assert.Equal(t, Variant{Name: "mine", Replaces: System, Text: "Mine."}, v)
	v, err = Open("lean")
	require.NoError(t, err)
	assert.Equal(t, "lean", v.Name)
	_, err = Open("none such")
	require.ErrorContains(t, err, "none such")
}

func TestOpenRefusesWhatIsNoPrompt(t *testing.T) {
	for want, data := range map[string]string{
		"NUL":         "\x7fELF\x00\x01",
		"valid UTF-8": "caf\xe9",
		"larger":      strings.Repeat("word ", maxFile/5+1),
	} {
		file := filepath.Join(t.TempDir(), "p.md")
		require.NoError(t, os.WriteFile(file, []byte(data), 0o600))
		_, err := Open(file)
		assert.ErrorContains(t, err, want)
	}
	if _, err := os.Stat("/dev/zero"); err == nil {
		_, err := Open("/dev/zero")
		assert.ErrorContains(t, err, "not a regular file")
	}
}

func TestParseRulesRefusesWrongOnes(t *testing.T) {
	for name, data := range map[string]string{
		"no id":           "- satisfied_by: [{all: [a]}]",
		"twice":           "- {id: a, satisfied_by: [{all: [a]}]}\n- {id: a, satisfied_by: [{all: [a]}]}",
		"nothing":         "- id: a",
		"bad expression":  "- {id: a, satisfied_by: [{all: ['(']}]}",
		"pattern of none": "- {id: a, satisfied_by: [{none: [a]}]}",
		"unknown key":     "- {id: a, extra: 1, satisfied_by: [{all: [a]}]}",
		"no list":         "id: a",
	} {
		_, err := ParseRules([]byte(data))
		assert.Error(t, err, name)
	}
}

func TestSentences(t *testing.T) {
	text := "# Head\nOne line\nwraps. Two (e.g. this) here! Three?\n\n- Point one\n- Point two. With more\n1. First\n\nNo end"
	want := []string{"# Head", "One line wraps.", "Two (e.g. this) here!", "Three?", "Point one", "Point two.", "With more", "First", "No end"}
	assert.Equal(t, want, sentences(text))
}

func TestLossInOneLine(t *testing.T) {
	l := Loss{Rule: "no-poll", Sentence: "Do not\npoll.", Contradiction: "Poll.\x1b[31m"}
	assert.Equal(t, `The new text loses the rule no-poll: "Do not\npoll."; it says "Poll.\x1b[31m".`, l.String())
}

func TestWidths(t *testing.T) {
	s := &rollout.Session{Calls: []rollout.Call{
		{Request: 0, ReadOnly: true}, {Request: 0, ReadOnly: true}, // a batch of two
		{Request: 1, ReadOnly: true}, {Request: 1}, // another, one call of which may change something
		{Request: 2, ReadOnly: true}, // single
		{Request: 3, Inherited: true}, {Request: -1},
	}}
	assert.Equal(t, []Width{{Calls: 1, Responses: 1, ReadOnly: 1}, {Calls: 2, Responses: 2, ReadOnly: 1}}, Widths(s))
}

func FuzzCheck(f *testing.F) {
	f.Add("---\ntitle: x\n---\nDo not poll.", "Poll.")
	f.Fuzz(func(t *testing.T, a, b string) {
		v, err := Parse("f", []byte(a))
		if err != nil {
			return
		}
		if _, err := Check(v.Text, b); err != nil {
			t.Fatal(err)
		}
		losses, err := Check(v.Text, v.Text)
		if err != nil || len(losses) > 0 {
			t.Fatalf("a text loses %d rules against itself, %v", len(losses), err)
		}
	})
}

func all(t *testing.T) []Rule {
	t.Helper()
	rules, err := Rules()
	require.NoError(t, err)
	return rules
}

func byID(t *testing.T) map[string]Rule {
	t.Helper()
	out := map[string]Rule{}
	for _, r := range all(t) {
		out[r.ID] = r
	}
	return out
}
