package variants

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/rollout"
)

func TestParse(t *testing.T) {
	type step struct {
		name   string
		values replay.Values
	}
	for _, c := range []struct {
		spec, name string
		want       []step
	}{
		{"mask", "mask", []step{{"mask", replay.Values{"keep": "10", "batch": "1"}}}},
		{"mask:keep=5", "mask:keep=5", []step{{"mask", replay.Values{"keep": "5", "batch": "1"}}}},
		{"compress:head=40,tail=60,min=30000", "compress:head=40,tail=60,min=30000", []step{{"compress", replay.Values{"profile": "freecode", "head": "40", "tail": "60", "min": "30000", "cut": ""}}}},
		{" no-line-numbers + mask:batch=2 ", "no-line-numbers+mask:batch=2", []step{{"no-line-numbers", replay.Values{"asked": "keep"}}, {"mask", replay.Values{"keep": "10", "batch": "2"}}}},
		{"cap:max = 10 , head= 0.5", "cap:max = 10 , head= 0.5", []step{{"cap", replay.Values{"max": "10", "head": "0.5", "class": ""}}}},
		{"exec:cmd='awk -F, {a+b} it=\"x\"',timeout=2s", "exec:cmd='awk -F, {a+b} it=\"x\"',timeout=2s", []step{{"exec", replay.Values{"cmd": `awk -F, {a+b} it="x"`, "mode": "each", "sh": "false", "timeout": "2s", "max": "4194304", "lossy": "true", "class": ""}}}},
	} {
		use, err := Parse(c.spec)
		require.NoError(t, err, c.spec)
		assert.Equal(t, c.name, use.Name, c.spec)
		var got []step
		for _, s := range use.Steps {
			got = append(got, step{s.Variant.Name, s.Values})
		}
		assert.Equal(t, c.want, got, c.spec)
	}
}

func TestParseErrors(t *testing.T) {
	for spec, want := range map[string]string{
		"":                       "a variant has no name; there are compress, no-line-numbers,",
		"mask+":                  "a variant has no name; there are",
		"squash":                 `unknown variant "squash"; there are compress, no-line-numbers,`,
		"mask:":                  `variant mask: "" is no setting; write option=value`,
		"mask:keep":              `variant mask: "keep" is no setting; write option=value`,
		"mask:kept=3":            `variant mask has no option "kept"; it takes keep, batch`,
		"mask:keep=1,keep=2":     "variant mask: option keep is given twice",
		"mask:keep=few":          `variant mask: option keep: want a whole number, 0 or more, got "few"`,
		"mask:keep=-1":           `variant mask: option keep: want a whole number, 0 or more, got "-1"`,
		"cap:head=1.1":           `variant cap: option head: want a number from 0 to 1, got "1.1"`,
		"cap:head=NaN":           `variant cap: option head: want a number from 0 to 1, got "NaN"`,
		"cap:class=reading":      `variant cap: option class: want one of shell, read, search, edit, todo, poll, retrieve, agent, web, other, or nothing, got "reading"`,
		"compress:profile=best":  `variant compress: option profile: want one of freecode, careful, got "best"`,
		"compress:head=many":     `variant compress: option head: want a whole number, 0 or more, got "many"`,
		"no-line-numbers:x=1":    `variant no-line-numbers has no option "x"; it takes asked`,
		"exec":                   "variant exec: option cmd: want a program, as in cmd=./filter.sh",
		"exec:cmd='a":            "no closing ' in exec:cmd='a",
		"exec:cmd=a,timeout=10":  `variant exec: option timeout: want a time such as 500ms or 10s, got "10"`,
		"exec:cmd=a,timeout=-1s": `variant exec: option timeout: want a time such as 500ms or 10s, got "-1s"`,
		"exec:cmd=a,mode=both":   `variant exec: option mode: want one of each, jsonl, got "both"`,
		"exec:cmd=a,sh=yes":      `variant exec: option sh: want one of false, true, got "yes"`,
		"mask+cap:max=0":         `variant cap: option max: want a whole number, 1 or more, got "0"`,
	} {
		_, err := Parse(spec)
		if assert.Error(t, err, spec) {
			assert.True(t, strings.HasPrefix(err.Error(), want), "%s: %v", spec, err)
		}
	}
}

func TestEveryVariantExplainsItself(t *testing.T) {
	seen := map[string]bool{}
	for _, v := range All() {
		assert.Regexp(t, `^[a-z-]+$`, v.Name)
		assert.False(t, seen[v.Name], v.Name)
		seen[v.Name] = true
		assert.NotEmpty(t, v.Title, v.Name)
		assert.NotEmpty(t, v.Doc, v.Name)
		assert.NotNil(t, v.Plan, v.Name)
		for _, o := range v.Options {
			assert.NotEmpty(t, o.Doc, "%s: %s", v.Name, o.Name)
		}
		found, ok := Find(v.Name)
		assert.True(t, ok)
		assert.Equal(t, v.Name, found.Name)
	}
	_, ok := Find("nothing")
	assert.False(t, ok)
}

func TestPlansWithoutParseTakeDefaults(t *testing.T) {
	v := newMaker().request(1).call(shellCall("a", "make"), big("a")).request(1).view(t)
	assert.Equal(t, replay.Plan{}, Mask().Plan(v, nil))
	assert.Equal(t, `variant mask: option keep: want a whole number, 0 or more, got "x"`, Mask().Plan(v, replay.Values{"keep": "x"}).Unsupported)
}

func FuzzParse(f *testing.F) {
	f.Add("compress:head=40,tail=60+mask:keep='5'")
	f.Add(`exec:cmd="a 'b' c",sh=true`)
	f.Fuzz(func(t *testing.T, spec string) {
		use, err := Parse(spec)
		if err == nil && len(use.Steps) == 0 {
			t.Fatal("no steps and no error")
		}
	})
}

const ownYAML = `# comment
variants:
  - name: quiet
    title: less noise
    steps:
      - use: mask
        options: {keep: 5}
      - replace:
          class: shell
          command: '^npm '
          pattern: '(?m)^Downloading .*\n'
          lossy: false
      - add:
          text: Answer in one sentence.
  - name: words
    steps:
      - replace: {tool: read, pattern: '(\w+)ing\b', with: '${1}ed'}
      - add: {text: remember this, kind: reminder}
`

func load(t testing.TB, text string) ([]Own, error) {
	path := filepath.Join(t.TempDir(), "own.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return Load(path)
}

func TestOwnVariants(t *testing.T) {
	own, err := load(t, ownYAML)
	require.NoError(t, err)
	require.Len(t, own, 2)
	assert.Equal(t, "less noise", own[0].Title)
	use, err := ParseWith(own, "words+quiet+cap")
	require.NoError(t, err)
	assert.Equal(t, "words+quiet+cap", use.Name)
	require.Len(t, use.Steps, 6)
	assert.Equal(t, replay.Values{"keep": "5", "batch": "1"}, use.Steps[2].Values)

	m := newMaker().request(1).call(shellCall("a", "npm ci"), "Downloading x\nok\nDownloading y\ndone").
		call(shellCall("b", "make"), "Downloading x\n").call(readCall("c", "f", ""), "walking far").request(1).request(1)
	v := m.view(t)
	p := own[0].Steps[1].Variant.Plan(v, nil)
	assert.Equal(t, "ok\ndone", sent(v, p, "a")[1])
	assert.Len(t, p.Edits, 1)
	assert.False(t, p.Edits[0].Lossy)
	p = own[1].Steps[0].Variant.Plan(v, nil)
	assert.Equal(t, "walked far", sent(v, p, "c")[1])
	assert.Len(t, p.Edits, 1)
	assert.True(t, p.Edits[0].Lossy)

	p = own[0].Steps[2].Variant.Plan(v, nil)
	assert.Equal(t, []replay.Addition{{Chain: 0, First: 1, Last: 3, Kind: rollout.SystemPrompt, Text: "Answer in one sentence.", Why: "constant"}}, p.Additions)
}

// Requests on a base send that base's payload: the text is in it already.
func TestConstantsAreAddedOnce(t *testing.T) {
	m := newMaker().request(1).request(1)
	helper := m.b.Chain()
	helper.Request(rollout.Request{Kind: rollout.KindCompaction, Status: rollout.Answered, Run: 1, Attempt: 1, Base: 1})
	m.request(1)
	got := constant(m.view(t).Session, rollout.ToolDefinitions, "text")
	assert.Equal(t, []replay.Addition{{Chain: 0, First: 1, Last: 3, Kind: rollout.ToolDefinitions, Text: "text", Why: "constant"}}, got)
}

func TestOwnVariantErrors(t *testing.T) {
	head := "variants:\n  - name: own\n    steps:\n"
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", ":1: variants: there are none; want a list"},
		{"no list", "variants: 5\n", ":1: variants: "},
		{"unknown key at the top", "variant: []\n", `:1: unknown field "variant"`},
		{"unknown key", "variants:\n  - nme: x\n", `:2: unknown field "nme"`},
		{"a key twice", "variants:\n  - name: x\n    name: y\n", `:3: `},
		{"no YAML", "variants:\n  - name: [\n", ":2: "},
		{"no name", "variants:\n  - title: x\n", ":2: name: want letters, digits, - and _"},
		{"bad name", "variants:\n  - title: x\n    name: a+b\n", `:3: name: want letters, digits, - and _, got "a+b"`},
		{"built-in name", "variants:\n  - name: mask\n", `:2: name: there is a variant "mask" already`},
		{"name twice", head + "      - use: mask\n  - name: own\n", `:5: name: there is a variant "own" already`},
		{"no steps", "variants:\n  - name: own\n", ":2: steps: there are none"},
		{"empty step", head + "      - options: {a: 1}\n", ":4: use: a step has exactly one of use, replace and add, this one 0"},
		{"two in one", head + "      - use: mask\n        add: {text: x}\n", ":4: use: a step has exactly one of use, replace and add, this one 2"},
		{"unknown variant", head + "      - use: squash\n", `:4: use: unknown variant "squash"; there are compress,`},
		{"unknown option", head + "      - use: mask\n        options:\n          keep: 4\n          kept: 5\n", `:7: kept: variant mask has no option "kept"; it takes keep, batch`},
		{"bad option", head + "      - use: mask\n        options:\n          keep: few\n", `:6: keep: variant mask: option keep: want a whole number, 0 or more, got "few"`},
		{"option with a list", head + "      - use: mask\n        options:\n          keep: [1]\n", ":6: keep: want text or a number"},
		{"missing option", head + "      - use: exec\n        options:\n          sh: true\n", ":6: options: variant exec: option cmd: want a program"},
		{"options without use", head + "      - add: {text: x}\n        options: {a: 1}\n", ":5: options: only a step with use takes options"},
		{"no pattern", head + "      - replace:\n          tool: bash\n", ":5: pattern: want a regular expression"},
		{"bad pattern", head + "      - replace:\n          tool: bash\n          pattern: '('\n", ":6: pattern: error parsing regexp: missing closing )"},
		{"bad command", head + "      - replace:\n          command: '['\n          pattern: x\n", ":5: command: error parsing regexp: missing closing ]"},
		{"bad class", head + "      - replace:\n          pattern: x\n          class: none\n", ":6: class: want one of shell, read,"},
		{"lossy is no truth value", head + "      - replace:\n          pattern: x\n          lossy: maybe\n", ":6: lossy: "},
		{"bad kind", head + "      - add:\n          text: x\n          kind: user_text\n", ":6: kind: want one of [system_prompt tool_definitions project_context reminder]"},
		{"no text", head + "      - add:\n          kind: reminder\n", ":5: text: want the text to add"},
	} {
		_, err := load(t, c.text)
		if assert.Error(t, err, c.name) {
			assert.Contains(t, err.Error(), "own.yaml"+c.want, c.name)
			assert.NotContains(t, err.Error(), "\n", c.name)
		}
	}
	_, err := Load(filepath.Join(t.TempDir(), "none.yaml"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// Nesting that would cost the parser all memory is refused at once, in every form.
func TestOwnVariantsTooDeep(t *testing.T) {
	const deep = 100_000
	for name, text := range map[string]string{
		"lists":     "variants: " + strings.Repeat("[", deep) + strings.Repeat("]", deep),
		"unclosed":  "variants: " + strings.Repeat("[", deep),
		"mappings":  "variants: " + strings.Repeat("{a: ", deep) + strings.Repeat("}", deep),
		"mixed":     "variants: " + strings.Repeat("[{a: ", deep),
		"dashes":    "variants:\n  " + strings.Repeat("- ", deep) + "a",
		"keys":      "variants:\n  " + strings.Repeat("? ", deep) + "a",
		"unclosed}": "variants: " + strings.Repeat("[}", deep),
	} {
		start := time.Now()
		_, err := load(t, text)
		assert.Less(t, time.Since(start), 30*time.Second, name)
		if assert.Error(t, err, name) {
			assert.Less(t, len(err.Error()), 300, name)
		}
	}
	_, err := load(t, "variants:\n"+strings.Repeat("# more than a megabyte\n", 50_000))
	assert.ErrorContains(t, err, "own.yaml: not read: larger than 1 MiB")
	_, err = load(t, "variants: [{name: x, steps: [{replace: {pattern: '"+strings.Repeat("[[]", 500)+"', with: y}}]}]\n")
	assert.NoError(t, err, "brackets in a text are no nesting")
}

// Files that would keep a YAML reader busy for minutes, or take all memory, end in
// an error at once; so do those that only look like it.
func TestOwnVariantsBombs(t *testing.T) {
	const room = 1<<20 - 100
	fill := func(lead, piece string) string { return lead + strings.Repeat(piece, (room-len(lead))/len(piece)) }
	texts := map[string]string{
		"aliases of aliases": "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n",
		"one step often":     "variants:\n  - name: a\n    steps: &s [" + strings.Repeat("{use: mask},", 5000) + "]\n" + strings.Repeat("  - {name: b, steps: *s}\n", 2000),
		"many keys":          "variants:\n  - name: a\n    steps:\n      - use: mask\n        options: {" + strings.Repeat("a: 1, ", 100_000) + "}\n",
		"holds itself":       "variants: &a [*a]\n",
		"large pattern":      "variants: [{name: a, steps: [{replace: {pattern: '" + strings.Repeat("(x{1000}|y)", 300) + "'}}]}]\n",
		"many patterns":      "variants: [{name: a, steps: [" + strings.Repeat("{replace: {pattern: 'x{900}'}},", 1000) + "]}]\n",
	}
	for _, lead := range []string{"title: >\n", "title: |\n", "title: \"", "title: '", "title: x", "title: ", "title:\n", ""} {
		for _, piece := range []string{"\n", " \n", "  \n", "\r", "\r\n", "!!a ", "&a ", "*a ", "[a,", "{a: ", "- ", "- a\n", "a: b\n", "? ", "|\n", "---\n", "# c\n", "<<: *a\n", "\t", "''", "\\\n", "\u2028"} {
			texts[lead+piece] = fill(lead, piece)
		}
	}
	for name, text := range texts {
		start := time.Now()
		_, err := load(t, text)
		assert.Less(t, time.Since(start), 30*time.Second, "%q", name)
		if assert.Error(t, err, "%q", name) {
			assert.Less(t, len(err.Error()), 500, "%q", name)
		}
	}
	start := time.Now()
	_, err := load(t, "title: >\n"+strings.Repeat("\n", 100_000))
	assert.ErrorContains(t, err, "own.yaml: more than 20000 lines")
	assert.Less(t, time.Since(start), 10*time.Second)
	for name, want := range map[string]string{
		"aliases of aliases": "own.yaml:2: *a: want the text itself, not another place's",
		"many keys":          "own.yaml:5: more than 100 keys in one mapping",
		// (x{1000}|y): 1 for the group, 1 for the choice, 1 + 2·1000 for the repetition, 2 for y; 300 of them and 1 to join them.
		"large pattern": "pattern: the expression is too large: its repetitions written out make 601501 steps, more than 10000",
		"many patterns": "pattern: the expressions of this file together are too large: more than 100000 steps",
	} {
		_, err := load(t, texts[name])
		assert.ErrorContains(t, err, want, name)
	}
}

// Long texts within the limits are taken.
func TestOwnVariantsMayBeLong(t *testing.T) {
	prompt := strings.Repeat("        one line of a prompt\n\n", 5000)
	own, err := load(t, "variants:\n  - name: a\n    steps:\n    - add:\n       text: |\n"+prompt)
	require.NoError(t, err)
	assert.Len(t, own[0].Steps, 1)
}

// No rule makes more of a session than a bounded number of bytes.
func TestOwnVariantsReplaceWithinBounds(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for _, c := range []struct {
		name, pattern, with, text, want string // "" left as it was
	}{
		{"small", "b", "<$0>", "abc", "a<b>c"},
		{"nothing found", "z", "<$0>", "abc", ""},
		{"empty matches", `\b`, "|", "ab c", "|ab| |c|"},
		{"1,000 for each of 16,777 places is just below 16 MiB more", "y", long + "y", strings.Repeat("y", 16_777), strings.Repeat(long+"y", 16_777)},
		{"one place more", "y", long + "y", strings.Repeat("y", 16_778), ""},
		{"text that repeats itself", "(?s).*", strings.Repeat("$0", 5000), strings.Repeat("y", 50_000), ""},
		{"more than a million places", "y", "", strings.Repeat("y", 1<<20+1), ""},
	} {
		text := fmt.Sprintf("variants: [{name: own, steps: [{replace: {pattern: '%s', with: '%s'}}]}]", c.pattern, c.with)
		own, err := load(t, text)
		require.NoError(t, err, c.name)
		v := newMaker().request(1).call(shellCall("a", "make"), c.text).request(1).view(t)
		p := own[0].Steps[0].Variant.Plan(v, nil)
		if c.want == "" {
			assert.Empty(t, p.Edits, c.name)
			assert.True(t, sent(v, p, "a")[1] == c.text, c.name)
		} else {
			assert.True(t, sent(v, p, "a")[1] == c.want, c.name)
		}
		if refused := c.want == "" && c.name != "nothing found"; refused {
			assert.Equal(t, []string{"session s: 1 result: the new text is too long (results may grow by 16 MiB in all); left as before"}, p.Warnings, c.name)
		} else {
			assert.Empty(t, p.Warnings, c.name)
		}
	}
}

func TestOwnVariantsTakeNoOptions(t *testing.T) {
	own, err := load(t, ownYAML)
	require.NoError(t, err)
	_, err = ParseWith(own, "quiet:keep=3")
	assert.EqualError(t, err, "variant quiet: own variants take no options on the command line")
	_, err = ParseWith(own, "loud")
	assert.ErrorContains(t, err, "exec, quiet, words")
}

func FuzzOwn(f *testing.F) {
	f.Add(ownYAML)
	f.Add("variants: &a [{name: x, steps: [{use: mask, options: {keep: *a}}]}]\n---\n")
	f.Add("variants:\n  - name: x\n    doc: >\n\n\n    steps: !!seq [{add: {text: |\n a}}]\n")
	f.Fuzz(func(t *testing.T, text string) {
		start := time.Now()
		own, err := parseOwn("f.yaml", []byte(text))
		if took := time.Since(start); took > 5*time.Second {
			t.Fatalf("%v for %d bytes", took, len(text))
		}
		if err == nil && len(own) == 0 {
			t.Fatal("no variants and no error")
		}
	})
}
