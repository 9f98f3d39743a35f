package detour

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/rollout"
)

func common(a, b string) bool {
	have := map[uint64]bool{}
	features(a, func(f uint64) { have[f] = true })
	found := false
	features(b, func(f uint64) { found = found || have[f] })
	return found
}

func TestFeatures(t *testing.T) {
	cases := []struct {
		name, a, b string
		want       bool
	}{
		{"twelve characters", "..abcdefghijkl..", "--abcdefghijkl--", true},
		{"eleven characters", "..abcdefghijk..", "--abcdefghijk--", false},
		{"a ruler", strings.Repeat("-", 40), strings.Repeat("-", 40), false},
		{"indentation", "a" + strings.Repeat(" ", 30) + "b", "c" + strings.Repeat(" ", 30) + "d", false},
		{"a number", "port 8123 is open", "ports: 8123", true},
		{"a part of a number", "port 81234 is open", "ports: 8123", false},
		{"two digits", "in 42 ms", "is 42", false},
		{"digits of a name", "x8123y", "8123", false},
		{"a decimal number", "took 812.5", "so 812", true},
		{"a path", "see src/a.go:", "in src/a.go.", true},
		{"another path", "see src/a.go", "in src/b.go", false},
		{"other letters", "жжжж1жжжжжжжж", "aжжжж1жжжжжжж", true},
		{"nothing", "", "abc", false},
	}
	for _, c := range cases {
		assert.Equal(t, c.want, common(c.a, c.b), c.name)
		assert.Equal(t, c.want, common(c.b, c.a), c.name)
	}
}

// The rolling hash finds exactly the windows that two texts have in common.
func TestStretchesAgainstBruteForce(t *testing.T) {
	windows := func(s string) map[string]bool {
		out := map[string]bool{}
		r := []rune(s)
		for i := 0; i+window <= len(r); i++ {
			w := r[i : i+window]
			solid := 0
			for _, c := range w {
				if unicode.IsLetter(c) || unicode.IsDigit(c) {
					solid++
				}
			}
			if solid >= minSolid {
				out[string(w)] = true
			}
		}
		return out
	}
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.StringMatching(`[ab é-]{0,60}`).Draw(t, "a")
		b := rapid.StringMatching(`[ab é-]{0,20}`).Draw(t, "b")
		if rapid.Bool().Draw(t, "copy") && len(a) > 0 {
			b += a[len(a)/2:]
		}
		a, b = strings.ToValidUTF8(a, ""), strings.ToValidUTF8(b, "")
		want := false
		for w := range windows(a) {
			want = want || windows(b)[w]
		}
		have, got := map[uint64]bool{}, false
		stretches(a, func(f uint64) { have[f] = true })
		assert.Equal(t, len(windows(a)), len(have))
		stretches(b, func(f uint64) { got = got || have[f] })
		assert.Equal(t, want, got)
	})
}

func TestSaid(t *testing.T) {
	assert.Equal(t, "say \"hi\"\n7\na/b\n", said(`{"a":"say \"hi\"","b":{"n":7},"c":["a/b",null,true]}`))
	assert.Equal(t, "plain", said("plain"))
	assert.Equal(t, `{"cut`, said(`{"cut`))
}

const secret = "the launch code is zebra-giraffe"

// one is a session whose first result holds a secret in its middle.
func one(t testing.TB, task string, later ...turn) *rollout.Session {
	first := turn{calls: []act{sh("cat plan").gave("head of it\n" + secret + "\ntail of it")}}
	return sessionOf(t, "s", task, append([]turn{first}, later...)...)
}

// used plans to keep head and tail of the first result and asks for later use.
func used(t testing.TB, s *rollout.Session, more ...replay.Edit) bool {
	m := newMatcher(s, sayings(s))
	plan := replay.Plan{Edits: append([]replay.Edit{cutTo(t, s, 0, "head of it\n[cut]\ntail of it")}, more...)}
	return firstUsed(m, plan)
}

// firstUsed judges a plan and returns what is found of its first edit.
func firstUsed(m *matcher, plan replay.Plan) bool {
	c := newCuts(m, plan)
	c.judge(false)
	return c.used[0]
}

func TestLaterUse(t *testing.T) {
	uses := turn{said: "Fine: " + secret + "."}
	quiet := turn{said: "Nothing to see."}
	assert.True(t, used(t, one(t, "task", uses)), "in a text")
	assert.True(t, used(t, one(t, "task", quiet, turn{calls: []act{sh("echo 'code is zebra-giraffe'")}}, quiet)), "in arguments")
	assert.False(t, used(t, one(t, "task", quiet)), "not at all")
	assert.False(t, used(t, one(t, "task", turn{said: "so: head of it and tail of it"})), "only what was kept")
	assert.False(t, used(t, one(t, "remember, "+secret, uses)), "it stands in the task too")
	again := turn{calls: []act{sh("cat plan2").gave(secret)}}
	assert.False(t, used(t, one(t, "task", again, uses)), "it stands in another result")
	s := one(t, "task", again, uses)
	assert.True(t, used(t, s, cutTo(t, s, 1, "[cut]")), "both results are cut")
	assert.False(t, used(t, s, cutTo(t, s, 1, "kept: "+secret)), "the other one is edited but keeps it")
	late := sessionOf(t, "s", "task", turn{said: secret, calls: []act{sh("cat plan").gave(secret)}}, quiet)
	m := newMatcher(late, sayings(late))
	assert.False(t, firstUsed(m, replay.Plan{Edits: []replay.Edit{cutTo(t, late, 0, "")}}), "said before it was seen")
}

// An edit that begins later, or that another one follows, is judged by its time only.
func TestLaterUseWhileTheEditHolds(t *testing.T) {
	quiet := turn{said: "quiet"}
	s := one(t, "task", turn{said: "I read: " + secret}, quiet, quiet)
	edit := cutTo(t, s, 0, "[cut]")
	m := newMatcher(s, sayings(s))
	at := func(edits ...replay.Edit) bool { return firstUsed(m, replay.Plan{Edits: edits}) }
	assert.True(t, at(edit))
	late := edit
	late.From++
	assert.False(t, at(late), "used at request 2, cut from request 3 on")
	kept := edit
	kept.Text = secret
	assert.False(t, at(kept, late), "whole at first")
}

func TestForeign(t *testing.T) {
	own := []saying{{3, "abcd"}, {5, "é"}, {6, "xyz"}}
	others := []saying{{0, "12"}, {1, "3456"}, {2, "ü7"}}
	assert.Equal(t, []saying{{3, "12"}, {3, "34"}, {5, "5"}, {6, "6"}, {6, "ü7"}}, foreign(own, others))
	assert.Equal(t, []saying{{3, "12"}}, foreign(own, others[:1]))
	assert.Empty(t, foreign(own, nil))
}

// A flat rate for every stratum keeps the arithmetic in sight.
func flat(net, low, high float64) Rates {
	return Rates{Source: "flat", Overall: Stratum{Cases: 40, Recoveries: 20, Net: net, NetLow: low, NetHigh: high}}
}

func TestEstimateByHand(t *testing.T) {
	uses := turn{said: "Fine: " + secret + "."}
	a := one(t, "task", uses)
	b := one(t, "task", turn{said: "quiet, nothing that anybody would look for"})
	b.ID = "b"
	recs := []replay.Recording{recordingOf(a), recordingOf(b)}
	plan := func(s *rollout.Session) replay.Plan {
		return replay.Plan{Edits: []replay.Edit{cutTo(t, s, 0, "[cut]")}}
	}
	d := Estimate(recs, []replay.Plan{plan(a), plan(b)}, flat(0.2, 0.1, 0.4))
	// a's cut text is used by a. Its null are b's words: no. b's null are a's words,
	// cut to the length of b's: they hold b's secret, so 1 of 2: as
	// many by chance as found. Expected: 0.2 each; high: a 1, b 0.4.
	require.NotNil(t, d)
	assert.Equal(t, int64(2), d.Evidence.Edits)
	assert.Equal(t, int64(1), d.Evidence.LaterUsed)
	assert.InDelta(t, 0.5, *d.Evidence.NullRate, 1e-12)
	assert.Equal(t, "other sessions", d.Evidence.NullBasis)
	assert.InDelta(t, 0.2, *d.Evidence.BaseRate, 1e-12)
	assert.InDelta(t, 0.4, d.Expected, 1e-12)
	assert.InDelta(t, 0.2, d.Low, 1e-12)
	assert.InDelta(t, 1.4, d.High, 1e-12)
	assert.Equal(t, []any{"flat", int64(40), int64(20)}, []any{d.Evidence.Source, d.Evidence.Truncations, d.Evidence.Recoveries})
}

// Worked by hand with a base rate of 0.2, which counts as 2 of 10.
func TestGenuine(t *testing.T) {
	for _, c := range []struct {
		used, null, n, want float64
	}{
		// q = 8.5/11; beyond 10 − 85/11 = 25/11, as are the edits left alone; g = (25/11 + 2)/(25/11 + 10) = 47/135.
		// 47/135 / (47/135 + 88/135·8.5/11) = 47/(47 + 68).
		{10, 8, 10, 47.0 / 115},
		// q = 0.5/101; beyond 100 − 50/101 = 10050/101; g = (10050 + 202)/(10050 + 1010) = 10252/11060;
		// the others are 808/11060, and 808·0.5/101 = 4.
		{100, 0, 100, 10252.0 / 10256},
		// q = 0.5/2; beyond 0.75; g = 2.75/10.75; 2.75/(2.75 + 8·0.25).
		{1, 0, 1, 11.0 / 19},
		// q = 52.5/101; beyond 72 − 5250/101 = 2022/101; left alone 4850/101; g = (2022 + 202)/(4850 + 1010) = 2224/5860;
		// 2224/(2224 + 3636·52.5/101) = 2224/(2224 + 1890).
		{72, 52, 100, 2224.0 / 4114},
		{0, 0, 10, 0},
		{5, 5, 10, 0},
		{1, 9, 10, 0},
		{10, 10, 10, 0},
	} {
		assert.InDelta(t, c.want, genuine(c.used, c.null, c.n, 0.2), 1e-12, c)
	}
	assert.Zero(t, genuine(5, 5, 10, 0))
	assert.Less(t, genuine(10, 8, 10, 1), 1+1e-12)
}

func TestEstimateOfOneSession(t *testing.T) {
	s := one(t, "task", turn{said: "Fine: " + secret})
	recs := []replay.Recording{recordingOf(s)}
	edit := cutTo(t, s, 0, "[cut]")
	d := Estimate(recs, []replay.Plan{{Edits: []replay.Edit{edit}}}, flat(0.2, 0.1, 0.4))
	assert.Equal(t, "earlier requests of the same session", d.Evidence.NullBasis)
	assert.Zero(t, *d.Evidence.NullRate)
	assert.InDelta(t, 11.0/19, d.Expected, 1e-12, "one of one found, none by chance: see TestGenuine")
	assert.InDelta(t, 1, d.High, 1e-12)
	// The words of the request before name what the result brings.
	s = sessionOf(t, "s", "task", turn{said: "I look for: " + secret}, turn{calls: []act{sh("cat plan").gave(secret)}}, turn{said: "quiet"})
	d = Estimate([]replay.Recording{recordingOf(s)}, []replay.Plan{{Edits: []replay.Edit{cutTo(t, s, 0, "[cut]")}}}, flat(0.2, 0.1, 0.4))
	assert.InDelta(t, 1, *d.Evidence.NullRate, 1e-12)
	assert.InDelta(t, 0.2, d.Expected, 1e-12)
}

// Both sources are named: 0.065 of the orientation figures, no later use.
func TestEstimateOfLineNumbers(t *testing.T) {
	s := one(t, "task", turn{said: "quiet"})
	edit := cutTo(t, s, 0, s.Texts[s.Spans[resultSpan(t, s, 0)].Text].S)
	edit.Why = "line-numbers"
	rates := flat(0.2, 0.1, 0.4)
	rates.Sessions = 3
	d := Estimate([]replay.Recording{recordingOf(s)}, []replay.Plan{{Edits: []replay.Edit{edit}}}, rates)
	assert.Contains(t, d.Evidence.Source, "flat; for line numbers orientation figures")
	assert.InDelta(t, 0.065, d.Expected, 1e-12)
}

func TestEstimateWithoutLossyEdits(t *testing.T) {
	s := one(t, "task", turn{said: secret})
	edit := cutTo(t, s, 0, "[cut]")
	edit.Lossy = false
	recs := []replay.Recording{recordingOf(s)}
	assert.Nil(t, Estimate(recs, []replay.Plan{{Edits: []replay.Edit{edit}}}, Orientation()))
	assert.Nil(t, Estimate(recs, []replay.Plan{{}}, Orientation()))
	assert.Nil(t, Estimate(nil, nil, Orientation()))
	edit.Lossy = true
	assert.Nil(t, Estimate(recs, []replay.Plan{{Edits: []replay.Edit{edit}, Unsupported: "no"}}, Orientation()))
}

func TestEditMarker(t *testing.T) {
	assert.Equal(t, Gone, editMarker(replay.Edit{Drop: true}))
	assert.Equal(t, Middle, editMarker(replay.Edit{Text: "head\n[9 lines]\ntail"}))
	assert.Equal(t, Handle, editMarker(replay.Edit{Text: "head … use the `output` tool with id"}))
	assert.Equal(t, Persisted, editMarker(replay.Edit{Text: "<persisted-output>\nx"}))
	assert.Equal(t, LineNumbers, editMarker(replay.Edit{Text: "a", Why: "line-numbers"}))
}

// Against a search for every window in every text alive at every request.
func TestLaterUseAgainstBruteForce(t *testing.T) {
	words := []string{"alpha-bravo-1", "charlie-delta", "echo-foxtrot-", "golf-hotel-ii"}
	rapid.Check(t, func(t *rapid.T) {
		pick := func(label string) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 2).Draw(t, label), " / ")
		}
		var turns []turn
		for i := range rapid.IntRange(2, 5).Draw(t, "turns") {
			turns = append(turns, turn{said: pick("said"), calls: []act{sh(fmt.Sprint("run ", i)).gave(pick("result"))}})
		}
		s := sessionOf(t, "s", pick("task"), turns...)
		e := cutTo(t, s, 0, pick("kept"))
		got := firstUsed(newMatcher(s, sayings(s)), replay.Plan{Edits: []replay.Edit{e}})
		assert.Equal(t, bruteForce(s, e), got)
	})
}

// bruteForce asks, for every item said while the edit held, whether it shares a
// feature with the cut text that neither the kept text nor another item alive has.
func bruteForce(s *rollout.Session, e replay.Edit) bool {
	list := func(text string) []uint64 {
		var out []uint64
		features(text, func(f uint64) { out = append(out, f) })
		return out
	}
	sp := s.Spans[e.Span]
	for _, it := range s.Items {
		if it.Request < 0 || s.Requests[it.Request].Number < e.From || s.Requests[it.Request].Number > sp.Last {
			continue
		}
		number := s.Requests[it.Request].Number
		taken := list(e.Text)
		for _, other := range s.Spans {
			if other.Item != sp.Item && other.First <= number && number <= other.Last {
				taken = append(taken, list(wordsOf(s, s.Items[other.Item]))...)
			}
		}
		for _, f := range list(wordsOf(s, it)) {
			if slices.Contains(list(s.Texts[sp.Text].S), f) && !slices.Contains(taken, f) {
				return true
			}
		}
	}
	return false
}

func BenchmarkMatcher(b *testing.B) {
	text := strings.Repeat("func main() { return 12345 } // src/a.go and more\n", 4000)
	s := sessionOf(b, "s", text, turn{said: "x"}, turn{said: text[:2000]})
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		newMatcher(s, sayings(s))
	}
}
