package variants

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fclog/fclog/internal/devdata"
	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/formats"
	"github.com/fclog/fclog/rollout/measure"
)

// textUses are variants that never lengthen a text.
var textUses = []string{
	"compress", "compress:min=0,head=1,tail=1", "compress:profile=careful,min=0,head=2,tail=2,cut=500", "no-line-numbers", "dedup-reads",
	"cap:max=40", "mask:keep=1", "mask:keep=0,batch=2", "clear-tool-results:trigger=1,keep=1", "clear-tool-results:trigger=400,keep=0,clear_at_least=20",
}

func recordedViews(t testing.TB, path string) []replay.View {
	ctx := context.Background()
	files, _, err := formats.Expand(ctx, []string{path})
	require.NoError(t, err)
	require.NotEmpty(t, files)
	var out []replay.View
	for _, f := range files {
		sessions, err := f.Format.Read(ctx, f.Path)
		require.NoError(t, err, f.Path)
		for _, s := range sessions {
			out = append(out, replay.View{Recording: replay.Recording{Session: s, Sizes: measure.Measure(s, counter())}, Count: counter().Count})
		}
	}
	return out
}

// checkPlan holds what every plan of a text variant must keep: valid places, no
// text longer than what was sent, late changes only where the policy is late, the
// same plan every time, a view that is left alone.
func checkPlan(t assert.TestingT, v replay.View, spec string) {
	use, err := Parse(spec)
	assert.NoError(t, err)
	step := use.Steps[0]
	p := step.Variant.Plan(v, step.Values)
	assert.Equal(t, p, step.Variant.Plan(v, step.Values), spec)
	late := strings.HasPrefix(spec, "mask") || strings.HasPrefix(spec, "clear")
	previous := map[int]int{}
	for _, e := range p.Edits {
		sp := v.Session.Spans[e.Span]
		assert.True(t, e.From >= sp.First && e.From <= sp.Last, spec)
		assert.Greater(t, e.From, previous[e.Span], spec)
		assert.True(t, e.Call >= -1 && e.Call < len(v.Session.Calls), spec)
		assert.False(t, e.Drop && e.Text != "", spec)
		assert.NotEmpty(t, e.Why, spec)
		restored := e.Why == "first-gone" && previous[e.Span] > 0 && e.Text == v.Text(e.Span)
		shorter := v.Count(v.Sizes.Encoding, e.Text) < carried(v, e.Span)
		assert.True(t, shorter || restored, "%s: %q is not shorter than %q", spec, e.Text, v.Text(e.Span))
		assert.True(t, late || restored || e.Early(v.Session), spec)
		previous[e.Span] = e.From
	}
	assert.Empty(t, p.Removals, spec)
	assert.Empty(t, p.Additions, spec)
}

func TestFormats(t *testing.T) {
	for _, format := range []string{"freecode", "codex", "claude-code"} {
		for _, v := range recordedViews(t, filepath.Join("..", "..", "testdata", format)) {
			for _, spec := range textUses {
				checkPlan(t, v, spec)
			}
		}
	}
}

// sessionOf reads the session with an ID from the small ones of a format.
func sessionOf(t testing.TB, format, id string) replay.View {
	for _, v := range recordedViews(t, filepath.Join("..", "..", "testdata", format)) {
		if v.Session.ID == id {
			return v
		}
	}
	t.Fatalf("no session %s in %s", id, format)
	return replay.View{}
}

// FreeCode, aug-1: cart.ts is read in requests 2 and again in 6, but the run border
// between them loaded the conversation anew, and an edit of it came between: no
// repeat. Both reads wrap one line: too few to tell numbers from data.
func TestFreeCodeSession(t *testing.T) {
	v := sessionOf(t, "freecode", "aug-1")
	assert.Empty(t, plan(t, v, "dedup-reads").Edits)
	assert.Empty(t, plan(t, v, "no-line-numbers").Edits)
	// 125 characters; 32 at the start, 8 at the end, the head ends with its last whole line.
	want := "<path>/home/ann/my-shop/cart.ts<\n\n... [85 of 125 characters left out] ...\n\ncontent>"
	p := plan(t, v, "cap:max=40,class=read")
	assert.Equal(t, want, sent(v, p, "call-1")[1])
	assert.Equal(t, []string{"", "", "", "", "", want}, sent(v, p, "call-5"))
}

// Codex, poll-0.104: `go test` left a session running. Five lines of its result are
// a log; with head and tail of 1 the four behind the first become a marker (the last
// line is empty). All requests after the first carry it.
func TestCodexSession(t *testing.T) {
	v := sessionOf(t, "codex", "019c8b0d-0000-7000-8000-000000000001")
	p := plan(t, v, "compress:min=0,head=1,tail=1")
	want := "Chunk ID: a1b2c3\n[... 4 lines omitted — full output via the `output` tool, id=\"call_1\" ...]\n"
	assert.Equal(t, []string{"", want, want, want}, sent(v, p, "call_1"))
	assert.Len(t, p.Edits, 1, "sed -n shows a file: untouched")
	each := v.Count(v.Sizes.Encoding, sent(v, replay.Plan{}, "call_1")[1]) - v.Count(v.Sizes.Encoding, want)
	assert.Equal(t, []int64{0, each, each, each}, savedTokens(v, p))
}

// Claude Code, 03: eight reads of 3,300 characters, one a request. Request k + 1 is
// the first that carries read k; read 8 first comes with request 9, when the microcompact
// had cleared 1 and 2 itself: what is a stub already stays.
func TestClaudeSession(t *testing.T) {
	v := sessionOf(t, "claude-code", "aaaaaaaa-0000-4000-8000-000000000003")
	p := plan(t, v, "mask:keep=3")
	begins := map[int]int{} // by call: request number
	for _, e := range p.Edits {
		begins[e.Call] = e.From
	}
	// Read k is masked when three newer ones are there, with request k + 4. Read 5 (call 4)
	// with request 9; read 6 with request 10, which has the search result as third newest.
	assert.Equal(t, map[int]int{0: 5, 1: 6, 2: 7, 3: 8, 4: 9, 5: 10}, begins)
}

// savedTokens is saved in the tokens of the view.
func savedTokens(v replay.View, p replay.Plan) []int64 {
	out := make([]int64, len(v.Session.Requests))
	for i := range out {
		for j := range v.Session.Spans {
			if carries(v.Session, i, j) {
				out[i] += v.Count(v.Sizes.Encoding, v.Text(j)) - v.Count(v.Sizes.Encoding, textAt(v, p, i, j))
			}
		}
	}
	return out
}

// drawSession makes a session of random calls, results that repeat, leave and come
// back, forks and late reorderings. Reads are most likely of one file.
func drawSession(t *rapid.T) replay.View {
	m := newMaker()
	texts := []string{
		lines("the line %d", 1, 10), lines("%6d→the line", 1, 40), lines("%6d→the line", 3, 30), "ok", lines("step %d", 1, 30),
		strings.Repeat("same line\n", 12), "error: failed\n" + lines("x %d", 1, 20), "ünï " + strings.Repeat("wörd ", 30),
	}
	var ids []string
	for n := range rapid.IntRange(3, 12).Draw(t, "requests") {
		m.request(rapid.Int64Range(0, 500).Draw(t, "input"))
		for k := range rapid.IntRange(0, 3).Draw(t, "calls") {
			id := string(rune('a'+n)) + string(rune('0'+k))
			call, parts := readCall(id, "f", ""), 1
			text := texts[rapid.IntRange(0, 2).Draw(t, "file")]
			if rapid.IntRange(0, 2).Draw(t, "other") == 0 {
				call = rapid.SampledFrom([]rollout.Call{
					shellCall(id, "make"), shellCall(id, "grep x ."), readCall(id, "f", "3:28"), readCall(id, "g", ""),
					{ID: id, Tool: "edit", Class: rollout.EditTool, Path: "f", Mutates: true},
				}).Draw(t, "call")
				text = rapid.SampledFrom(texts).Draw(t, "text")
				parts = rapid.IntRange(0, 2).Draw(t, "parts")
			}
			m.call(call, slices.Repeat([]string{text}, parts)...)
			ids = append(ids, id)
		}
		switch what := rapid.IntRange(0, 9).Draw(t, "then"); {
		case what < 3 && len(ids) > 0:
			m.leaves(rapid.SampledFrom(ids).Draw(t, "leaves"))
		case what == 3:
			m.chain, _ = m.chain.Fork(m.chain.Alive())
			m.results = map[string][]*rollout.Entry{}
		case what == 4:
			alive := m.chain.Alive()
			slices.Reverse(alive)
			m.chain.Reorder(alive)
		}
	}
	s := m.b.Finish()
	if err := rollout.Check(s); err != nil {
		t.Fatal(err)
	}
	return wordView(s)
}

func TestPlansKeepTheirPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := drawSession(t)
		for _, spec := range textUses {
			checkPlan(t, v, spec)
		}
		for i, n := range saved(v, planOf(t, v, "dedup-reads")) {
			if n < 0 {
				t.Fatalf("request %d grew by %d", i, -n)
			}
		}
	})
}

func planOf(t *rapid.T, v replay.View, spec string) replay.Plan {
	use, err := Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return use.Steps[0].Variant.Plan(v, use.Steps[0].Values)
}

// Wherever a stub of dedup-reads is sent, the call it names stands whole in the same
// payload, ahead of it.
func TestStubsPointAtWhatStands(t *testing.T) {
	sessions, stubs, restored := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		sessions++
		v := drawSession(t)
		p := planOf(t, v, "dedup-reads")
		for _, e := range p.Edits {
			if e.Why == "repeat" {
				stubs++
			} else {
				restored++
			}
		}
		for i := range v.Session.Requests {
			for j := range v.Session.Spans {
				_, id, isStub := strings.Cut(textAt(v, p, i, j), "in the result of call ")
				if !isStub || !carries(v.Session, i, j) {
					continue
				}
				found := false
				for k, sp := range v.Session.Spans {
					found = found || carries(v.Session, i, k) && v.Session.Items[sp.Item].CallID == strings.TrimSuffix(id, "]") &&
						sp.Position < v.Session.Spans[j].Position && containsText(textAt(v, p, i, k), v.Text(j))
				}
				if !found {
					t.Fatalf("request %d: span %d names %s, which is not there", i, j, id)
				}
			}
		}
	})
	assert.Greater(t, 5*stubs, sessions, "the sessions must hold repeats")
	if !testing.Short() { // a fifth of the sessions may hold none
		assert.Positive(t, restored)
	}
}

// containsText says whether every line of a read stands in another, by a search for
// each.
func containsText(whole, part string) bool {
	for _, line := range strings.Split(part, "\n") {
		if !strings.Contains(whole, line) {
			return false
		}
	}
	return true
}

func textAt(v replay.View, p replay.Plan, request, span int) string {
	text := v.Text(span)
	for _, e := range p.Edits {
		if e.Span == span && e.From <= v.Session.Requests[request].Number {
			text = e.Text
		}
	}
	return text
}

// On real logs: the promises hold, and no saving exceeds what the audit counts as
// its upper bound.
func TestRealLogs(t *testing.T) {
	for _, name := range []string{"freecode", "codex", "claude"} {
		for _, v := range recordedViews(t, devdata.Dir(t, name)) {
			for _, spec := range []string{"compress:min=1000", "compress:profile=careful", "no-line-numbers", "no-line-numbers:asked=drop", "dedup-reads", "cap:max=2000", "mask", "clear-tool-results:trigger=20000"} {
				checkPlan(t, v, spec)
			}
			for _, e := range plan(t, v, "no-line-numbers:asked=drop").Edits {
				size := v.Sizes.Spans[e.Span].Size
				assert.Equal(t, size.PrefixTokens, carried(v, e.Span)-v.Count(v.Sizes.Encoding, e.Text))
			}
		}
	}
}
