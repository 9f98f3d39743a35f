package variants

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/formats"
	"github.com/fclog/fclog/rollout/measure"
)

// This file does over again, in the plainest code, what batch-reads, serialize and
// inline-batching are documented to do, and what every request carries then. It
// shares nothing with them but the session.

// everyFormat reads all small sessions there are, by format: new folders come in by
// themselves.
func everyFormat(t testing.TB) map[string][]replay.View {
	root := filepath.Join("..", "..", "testdata")
	entries, err := os.ReadDir(root)
	require.NoError(t, err)
	out := map[string][]replay.View{}
	for _, e := range entries {
		files, _, err := formats.Expand(context.Background(), []string{filepath.Join(root, e.Name())})
		if errors.Is(err, formats.ErrNothing) {
			continue
		}
		require.NoError(t, err, e.Name())
		for _, f := range files {
			sessions, err := f.Format.Read(context.Background(), f.Path)
			require.NoError(t, err, f.Path)
			for _, s := range sessions {
				rec := replay.Recording{Session: s, Sizes: measure.Measure(s, counter())}
				out[s.Source] = append(out[s.Source], replay.View{Recording: rec, Count: counter().Count})
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(out)) {
		t.Logf("%s: %d sessions", name, len(out[name]))
	}
	return out
}

// byRule is what a rule does to a session.
type byRule struct {
	certain, possible map[int]int64 // requests that go, with the output that another response produces
	dropped           map[int]bool  // items that no request carries any more
	extras            []extraByRule
}

type extraByRule struct {
	after int
	more  int64
}

func newByRule() byRule {
	return byRule{certain: map[int]int64{}, possible: map[int]int64{}, dropped: map[int]bool{}}
}

// plainSession is a session with what the rules look up.
type plainSession struct {
	replay.View
	s *rollout.Session
}

// tokens is the raw size of a text, given or counted.
func (p plainSession) tokens(text rollout.TextID, given, measured *int64, kind rollout.ItemKind) int64 {
	switch {
	case given != nil:
		return *given
	case p.s.Texts[text].Opaque || kind == rollout.Reasoning: // no words, or sized by what was reported
		if measured == nil {
			return 0
		}
		return *measured
	}
	return p.Count(p.Sizes.Encoding, p.s.Texts[text].S)
}

func (p plainSession) itemTokens(item int) int64 {
	if item < 0 {
		return 0
	}
	it := p.s.Items[item]
	return p.tokens(it.Text, it.Tokens, p.Sizes.Items[item].Tokens, it.Kind)
}

// carries sums what a request sends by kind, without what has been dropped.
func (p plainSession) carries(request int, dropped map[int]bool) map[rollout.ItemKind]int64 {
	r := p.s.Requests[request]
	out := map[rollout.ItemKind]int64{}
	if r.Base >= 0 {
		out = p.carries(r.Base, dropped)
	}
	for i, sp := range p.s.Spans {
		if sp.Chain == r.Chain && sp.First <= r.Number && r.Number <= sp.Last && !dropped[sp.Item] {
			kind := p.s.Items[sp.Item].Kind
			out[kind] += p.tokens(sp.Text, sp.Tokens, p.Sizes.Spans[i].Tokens, kind)
		}
	}
	return out
}

func (p plainSession) factor(model string, kind rollout.ItemKind) float64 {
	all := 1.0
	for _, c := range p.Sizes.Calibration {
		if c.Fit == measure.FitAll && c.Model == model {
			if c.Kind == kind {
				return c.Factor
			}
			if c.Kind == "" {
				all = c.Factor
			}
		}
	}
	return all
}

// answered lists the answered requests of the session itself, chain by chain.
func (p plainSession) answered() [][]int {
	byChain := map[int][]int{}
	for i, r := range p.s.Requests {
		if r.Status == rollout.Answered && !r.Inherited {
			byChain[r.Chain] = append(byChain[r.Chain], i)
		}
	}
	var out [][]int
	for _, chain := range slices.Sorted(maps.Keys(byChain)) {
		out = append(out, byChain[chain])
	}
	return out
}

func (p plainSession) callsOf(request int) []rollout.Call {
	var out []rollout.Call
	for _, c := range p.s.Calls {
		if c.Request == request && !c.Inherited {
			out = append(out, c)
		}
	}
	return out
}

func (p plainSession) argsTokens(c rollout.Call) int64 {
	if c.ArgsItem >= 0 {
		return p.itemTokens(c.ArgsItem)
	}
	return p.Count(p.Sizes.Encoding, p.s.Texts[c.Args].S)
}

func (p plainSession) resultText(c rollout.Call) string {
	if c.ResultItem < 0 {
		return ""
	}
	return p.s.Texts[p.s.Items[c.ResultItem].Text].S
}

// rests says whether a word of a call's arguments stands in the result of another
// call, and not in that call's own arguments.
func (p plainSession) rests(c, on rollout.Call, chars int) bool {
	args, earlier, result := p.s.Texts[c.Args].S, p.s.Texts[on.Args].S, p.resultText(on)
	for _, word := range valueWords(args) {
		if len(word) >= chars && strings.Contains(result, word) && !strings.Contains(earlier, word) {
			return true
		}
	}
	return false
}

func letter(c byte) bool { return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

// valueWords are the words of arguments, names of members apart.
func valueWords(args string) []string {
	var plain []byte
	for i := 0; i < len(args); i++ {
		end := i + 1
		for args[i] == '"' && end < len(args) && letter(args[end]) {
			end++
		}
		if end > i+1 && end < len(args) && args[end] == '"' {
			colon := len(args) - len(strings.TrimLeft(args[end+1:], " \t\n\r\f"))
			if colon < len(args) && args[colon] == ':' {
				plain, i = append(plain, ' '), colon
				continue
			}
		}
		plain = append(plain, args[i])
	}
	return strings.FieldsFunc(string(plain), func(r rune) bool {
		return !(r < 128 && (letter(byte(r)) || '0' <= r && r <= '9' || r == '.' || r == '/' || r == '-'))
	})
}

// batchReads: of a row of responses that each asked for one independent read-only
// call, all but the first go.
func (p plainSession) batchReads() byRule {
	out := newByRule()
	single := func(request int) (rollout.Call, bool) {
		calls := p.callsOf(request)
		if len(calls) != 1 {
			return rollout.Call{}, false
		}
		c := calls[0]
		return c, c.ReadOnly && c.Ran && c.Poll == rollout.NoPoll
	}
	for _, chain := range p.answered() {
		var together []rollout.Call // calls that certainly share a response
		for k, i := range chain {
			c, ok := single(i)
			if k > 0 && ok {
				before, also := single(chain[k-1])
				if also && p.s.Requests[chain[k-1]].Run == p.s.Requests[i].Run && !p.rests(c, before, 6) {
					moved := int64(math.Round(p.factor(p.s.Requests[i].Model, rollout.ToolCall) * float64(p.argsTokens(c))))
					if n := p.s.Requests[i].Usage.Output; n != nil {
						moved = min(moved, *n)
					}
					if slices.ContainsFunc(together, func(e rollout.Call) bool { return p.rests(c, e, 3) }) {
						out.possible[i], together = moved, nil
					} else {
						out.certain[i] = moved
					}
					together = append(together, c)
					continue
				}
			}
			together = []rollout.Call{c}
		}
	}
	return out
}

// serialize: each of n calls of one response but the last is followed by a request
// of its own.
func (p plainSession) serialize() byRule {
	out := newByRule()
	for _, chain := range p.answered() {
		for _, i := range chain {
			var own []rollout.Call
			for _, c := range p.callsOf(i) {
				if c.Parent == "" {
					own = append(own, c)
				}
			}
			more := int64(0)
			for item, it := range p.s.Items {
				if it.Request == i && it.Kind != rollout.ToolCall && p.sent(item) {
					more += p.itemTokens(item)
				}
			}
			for k := 0; k+1 < len(own); k++ {
				more += p.argsTokens(own[k]) + p.itemTokens(own[k].ResultItem)
				out.extras = append(out.extras, extraByRule{i, more})
			}
		}
	}
	slices.SortStableFunc(out.extras, func(a, b extraByRule) int { return cmp.Compare(a.after, b.after) })
	return out
}

func (p plainSession) sent(item int) bool {
	return slices.ContainsFunc(p.s.Spans, func(sp rollout.Span) bool { return sp.Item == item })
}

// inlineBatching: polls of what ended by itself go, less one an episode; the last of
// it goes at the high end where other work was to be done. Notifications are left
// alone: push=count.
func (p plainSession) inlineBatching() byRule {
	out := newByRule()
	for _, chain := range p.answered() {
		for from := 0; from < len(chain); {
			to := from
			for to < len(chain) && p.asksOnly(chain[to]) && p.s.Requests[chain[to]].Run == p.s.Requests[chain[from]].Run {
				to++
			}
			if to == from {
				from++
				continue
			}
			p.episode(&out, chain[from:to], chain[to:])
			from = to
		}
	}
	return out
}

func (p plainSession) asksOnly(request int) bool {
	calls := p.callsOf(request)
	return len(calls) > 0 && !slices.ContainsFunc(calls, func(c rollout.Call) bool { return c.Poll == rollout.NoPoll })
}

func (p plainSession) episode(out *byRule, polls, after []int) {
	last := polls[len(polls)-1]
	var can []int
	for k, i := range polls {
		if p.delivered(polls[k:]) && !(k > 0 && p.personSpeaks(i)) {
			can = append(can, i)
		}
	}
	for k, i := range can {
		if k+1 < len(can) {
			out.certain[i] = 0
			for _, c := range p.callsOf(i) {
				p.leave(out, c)
			}
		}
	}
	for _, i := range polls {
		if _, gone := out.certain[i]; !gone && i != last {
			out.possible[i] = 0
		}
	}
	for _, i := range after {
		if p.s.Requests[i].Run != p.s.Requests[last].Run {
			break
		}
		for _, c := range p.callsOf(i) {
			if c.Poll == rollout.NoPoll && !p.restsOnAny(c, polls) {
				out.possible[last] = 0
			}
		}
	}
}

func (p plainSession) restsOnAny(c rollout.Call, polls []int) bool {
	for _, i := range polls {
		for _, poll := range p.callsOf(i) {
			if p.rests(c, poll, 6) || c.Task != "" && c.Task == poll.Task { // or stops, feeds or starts it anew
				return true
			}
		}
	}
	return false
}

// leave takes a poll out of later requests, and its result unless it is the end.
func (p plainSession) leave(out *byRule, c rollout.Call) {
	drop := func(item int) {
		if item >= 0 {
			out.dropped[item] = true
		}
	}
	drop(c.ArgsItem)
	text := strings.TrimSpace(p.resultText(c))
	again := slices.ContainsFunc(p.s.Calls[p.number(c)+1:], func(d rollout.Call) bool {
		if d.Poll == rollout.NoPoll || (c.Task == "") != (d.Task == "") {
			return false
		}
		return c.Task != "" && c.Task == d.Task || c.Task == "" && c.Tool == d.Tool && c.Args == d.Args
	})
	switch c.Poll {
	case rollout.PollEmpty, rollout.PollProgress, rollout.PollLost:
		drop(c.ResultItem)
	case rollout.PollUnknown:
		if text == "" || text == "(no output)" || again {
			drop(c.ResultItem)
		}
	}
}

func (p plainSession) number(c rollout.Call) int {
	return slices.IndexFunc(p.s.Calls, func(d rollout.Call) bool { return d.ID == c.ID })
}

// delivered says whether all that the first response asked about ended by itself.
func (p plainSession) delivered(polls []int) bool {
	for _, c := range p.callsOf(polls[0]) {
		if p.endedByItself(c) {
			continue
		}
		end := false
		for _, i := range polls {
			for _, d := range p.callsOf(i) {
				end = end || d.Poll == rollout.PollFinal && (d.Task == "" || p.endedByItself(d))
			}
		}
		if !end || c.Task != "" && c.Poll != rollout.PollLost {
			return false
		}
	}
	return true
}

// endedByItself looks along the calls that name the task of a poll: back to an end
// that was brought already, or on to the next one, past nothing but polls; else for
// a notification that came later.
func (p plainSession) endedByItself(c rollout.Call) bool {
	if c.Task == "" {
		return false
	}
	at := p.number(c)
	for i := at - 1; i >= 0; i-- {
		if d := p.s.Calls[i]; d.Task == c.Task {
			if d.Poll == rollout.NoPoll {
				break
			}
			if d.Poll == rollout.PollFinal {
				return true
			}
		}
	}
	for _, d := range p.s.Calls[at:] {
		if d.Task == c.Task {
			if d.Poll == rollout.NoPoll {
				return false
			}
			if d.Poll == rollout.PollFinal {
				return true
			}
		}
	}
	return slices.ContainsFunc(p.s.Spans, func(sp rollout.Span) bool {
		first := slices.IndexFunc(p.s.Requests, func(r rollout.Request) bool { return r.Chain == sp.Chain && r.Number == sp.First })
		return first > c.Request && slices.Contains(p.endsTold(sp.Item), c.Task) && p.firstSpan(sp)
	})
}

// firstSpan says whether a span is the first of its item.
func (p plainSession) firstSpan(sp rollout.Span) bool {
	i := slices.IndexFunc(p.s.Spans, func(o rollout.Span) bool { return o.Item == sp.Item })
	return p.s.Spans[i] == sp
}

func (p plainSession) notice(item int) bool {
	it := p.s.Items[item]
	text := strings.TrimSpace(p.s.Texts[it.Text].S)
	return (it.Kind == rollout.Reminder || it.Kind == rollout.UserText) &&
		(it.Label == "task_notification" || strings.HasPrefix(text, "<task-notification>") || strings.HasPrefix(text, "<subagent_notification>"))
}

// endsTold are the tasks whose end a notification tells; none where it also tells of
// something else.
func (p plainSession) endsTold(item int) []string {
	if !p.notice(item) {
		return nil
	}
	var out []string
	for i, part := range strings.Split(p.s.Texts[p.s.Items[item].Text].S, "<task-notification>") {
		if i == 0 && strings.TrimSpace(part) == "" {
			continue
		}
		task, status := tagged(part, "task-id"), tagged(part, "status")
		if task == "" {
			_, rest, _ := strings.Cut(part, `"agent_id"`)
			if fields := strings.SplitN(rest, `"`, 3); len(fields) == 3 && strings.TrimSpace(fields[0]) == ":" {
				task = fields[1]
			}
		}
		if task == "" || status == "" || status == "event" || status == "running" {
			return nil
		}
		out = append(out, task)
	}
	return out
}

func tagged(text, tag string) string {
	_, rest, _ := strings.Cut(text, "<"+tag+">")
	value, _, ok := strings.Cut(rest, "</"+tag+">")
	if !ok {
		return ""
	}
	return strings.TrimSpace(value)
}

// personSpeaks says whether a request is the first to carry what a person wrote.
func (p plainSession) personSpeaks(request int) bool {
	r := p.s.Requests[request]
	for i, sp := range p.s.Spans {
		if sp.Chain == r.Chain && sp.First == r.Number && p.s.Items[sp.Item].Kind == rollout.UserText && !p.notice(sp.Item) && p.firstSpan(p.s.Spans[i]) {
			return true
		}
	}
	return false
}

// checkRule compares a variant as the engine evaluates it with the rule done by hand.
func checkRule(t require.TestingT, v replay.View, spec string, want byRule) {
	use, err := Parse(spec)
	require.NoError(t, err)
	p := plainSession{v, v.Session}
	e := &replay.Engine{Count: v.Count}
	plan := e.Plan(context.Background(), v.Recording, use)
	if plan.Unsupported != "" {
		require.Empty(t, len(want.certain)+len(want.possible)+len(want.extras), "%s, session %s: %s", spec, v.Session.ID, plan.Unsupported)
	}
	for _, high := range []bool{false, true} {
		got := e.Evaluate(v.Recording, plan, high)
		counted, requests, output := int64(0), int64(0), int64(0)
		for i, r := range v.Session.Requests {
			at := fmt.Sprintf("%s, session %s, request %d, high %v", spec, v.Session.ID, i, high)
			moved, gone := want.certain[i]
			if !gone && high {
				moved, gone = want.possible[i]
			}
			require.Equal(t, gone, got.Requests[i].Removed, at)
			before, after := p.carries(i, nil), p.carries(i, want.dropped)
			left, saved := int64(0), 0.0
			for kind, n := range before {
				left += after[kind]
				saved += p.factor(r.Model, kind) * float64(n-after[kind])
			}
			if gone {
				left = 0
			} else if r.Usage.Output != nil {
				moved = *r.Usage.Output
			}
			require.Equal(t, left, got.Requests[i].Counted, at)
			if r.Usage.Input != nil && !gone {
				require.InDelta(t, float64(*r.Usage.Input)-saved, float64(*got.Requests[i].Input), 1.000001, at)
			}
			if !r.Inherited {
				counted += left
				if !gone {
					requests++
				}
				if r.Usage.Output != nil {
					output += moved
				}
			}
		}
		require.Equal(t, counted, got.Total.CountedTokens, spec)
		require.Equal(t, requests, got.Total.Requests, spec)
		require.Equal(t, output, known(got.Total.OutputTokens), spec)
		extra := int64(0)
		for _, x := range want.extras {
			for _, n := range p.carries(x.after, nil) {
				extra += n
			}
			extra += x.more
		}
		require.Equal(t, extra, got.Extra.CountedTokens, "%s, session %s", spec, v.Session.ID)
		require.EqualValues(t, len(want.extras), got.Extra.Requests)
		for k, x := range want.extras {
			if in := v.Session.Requests[x.after].Usage.Input; in != nil {
				require.Equal(t, *in+int64(math.Round(p.factor(v.Session.Requests[x.after].Model, "")*float64(x.more))), *got.Extras[k].Input)
			}
		}
	}
}

// checkPayloads compares the engine with every payload under a plan, text by text.
func checkPayloads(t require.TestingT, v replay.View, spec string, plan replay.Plan) {
	s, got := v.Session, (&replay.Engine{Count: v.Count}).Evaluate(v.Recording, plan, true)
	p := plainSession{v, s}
	var sends func(request int) int64
	sends = func(request int) (sum int64) {
		r := s.Requests[request]
		if r.Base >= 0 {
			sum = sends(r.Base)
		}
		for i, sp := range s.Spans {
			if sp.Chain != r.Chain || r.Number < sp.First || sp.Last < r.Number {
				continue
			}
			n, since := p.tokens(sp.Text, sp.Tokens, p.Sizes.Spans[i].Tokens, s.Items[sp.Item].Kind), 0
			for _, e := range plan.Edits {
				if e.Span == i && since <= e.From && e.From <= r.Number {
					n, since = 0, e.From
					if !e.Drop {
						n = v.Count(v.Sizes.Encoding, e.Text)
					}
				}
			}
			sum += n
		}
		for _, a := range plan.Additions {
			switch {
			case a.Chain != r.Chain || r.Number < a.First || a.Last < r.Number:
			case a.Tokens != nil:
				sum += *a.Tokens
			default:
				sum += v.Count(v.Sizes.Encoding, a.Text)
			}
		}
		return sum
	}
	for i := range s.Requests {
		want := sends(i)
		if slices.ContainsFunc(plan.Removals, func(r replay.Removal) bool { return r.Request == i }) {
			want = 0
		}
		require.Equal(t, want, got.Requests[i].Counted, "%s, session %s, request %d", spec, s.ID, i)
	}
}

// Every variant there is, on every small session: a variant that asks for a setting
// must be given one here.
func TestEveryVariantByBruteForce(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text.md")
	require.NoError(t, os.WriteFile(text, []byte("Make independent calls together."), 0o600))
	settings := map[string][]string{
		"prompt": {"prompt:file=" + text, "prompt:file=" + text + ",base=" + text, "prompt:add=" + text},
		"exec":   {"exec:cmd=cat"},
	}
	if _, err := exec.LookPath("head"); err == nil {
		settings["exec"] = append(settings["exec"], "exec:cmd=head -c 20")
	}
	var specs []string
	for _, v := range All() {
		if list, ok := settings[v.Name]; ok {
			specs = append(specs, list...)
			continue
		}
		specs = append(specs, v.Name)
	}
	specs = append(specs, textUses...)
	specs = append(specs, "compact-at:tokens=200", "mask:keep=1+cap:max=40", "compress:min=0,head=1,tail=1+inline-batching+tail-reminders")
	for _, views := range everyFormat(t) {
		changed := map[string]int{}
		for _, v := range views {
			for _, spec := range specs {
				use, err := Parse(spec)
				require.NoError(t, err)
				plan := (&replay.Engine{Count: v.Count}).Plan(context.Background(), v.Recording, use)
				checkPayloads(t, v, spec, plan)
				if len(plan.Edits)+len(plan.Removals)+len(plan.Additions)+len(plan.Extras) > 0 {
					changed[use.Steps[0].Variant.Name]++
				}
			}
		}
		t.Logf("%s: plans that change something: %v", views[0].Session.Source, changed)
	}
}

// rulesOf are the variants done over again here.
func rulesOf(v replay.View) map[string]byRule {
	p := plainSession{v, v.Session}
	return map[string]byRule{"batch-reads": p.batchReads(), "serialize": p.serialize(), "inline-batching:push=count": p.inlineBatching()}
}

func TestRulesByBruteForce(t *testing.T) {
	removed, added := map[string]int{}, map[string]int{}
	for _, views := range everyFormat(t) {
		for _, v := range views {
			for spec, want := range rulesOf(v) {
				checkRule(t, v, spec, want)
				removed[spec] += len(want.certain) + len(want.possible)
				added[spec] += len(want.extras)
			}
		}
	}
	t.Logf("requests that go: %v; that come in addition: %v", removed, added)
	require.NotZero(t, removed["batch-reads"])
	require.NotZero(t, removed["inline-batching:push=count"])
	require.NotZero(t, added["serialize"])
}

func TestRulesOfRandomSessions(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		v := randomScript(rt).recorded(t)
		for spec, want := range rulesOf(v) {
			checkRule(rt, v, spec, want)
		}
	})
}
