package compare

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/replay/variants"
	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/measure"
)

// full is a trial with everything recorded.
func full(name string, requests, tokens, repeats int64, passed bool) Trial {
	t := Trial{Task: Task{Case: name}, Passed: &passed}
	t.Requests, t.Input, t.Output, t.RepeatedCalls = &requests, new(tokens-10), new(int64(10)), &repeats
	t.CostUSD = new(float64(tokens) / 1e6)
	return t
}

// many is n tasks of k trials each.
func many(n, k int, requests, tokens, repeats int64, passed bool) []Trial {
	var out []Trial
	for i := range n {
		for range k {
			out = append(out, full(string(rune('a'+i)), requests, tokens, repeats, passed))
		}
	}
	return out
}

// scored gives all trials a score.
func scored(trials []Trial, score float64) []Trial {
	trials = slices.Clone(trials)
	for i := range trials {
		trials[i].Score = &score
	}
	return trials
}

func TestVerdicts(t *testing.T) {
	base := many(8, 3, 10, 10_000, 2, true)
	// one changes a single trial, all every trial.
	one := func(trials []Trial, change func(*Trial)) []Trial {
		trials = slices.Clone(trials)
		change(&trials[0])
		return trials
	}
	all := func(trials []Trial, change func(*Trial)) []Trial {
		trials = slices.Clone(trials)
		for i := range trials {
			change(&trials[i])
		}
		return trials
	}
	cheaper := many(8, 3, 9, 9000, 2, true)
	for _, c := range []struct {
		name, verdict, reason string
		candidate             []Trial
	}{
		{"cheaper, the rest a tie", Kept, "cost fell (-10.0 %, 95 % interval -10.0 %), pass rate and repeated calls hold", cheaper},
		{"identical", Inconclusive, "cost is the same in both arms: nothing is gained", base},
		{"dearer", Rejected, "cost rose: +20.0 %, 95 % interval +20.0 %", many(8, 3, 10, 12_000, 2, true)},
		{"cheaper and wrong", Rejected, "8 of 8 tasks regressed by the majority of trials", many(8, 3, 9, 9000, 2, false)},
		{"cheaper with more repeats", Rejected, "repeated calls rose from 2.00 to 3.00 a trial", many(8, 3, 9, 9000, 3, true)},
		{"cheaper, one trial fails", Inconclusive, "the pass rate or score is lower, though not beyond chance",
			one(cheaper, func(t *Trial) { t.Passed = new(false) })},
		{"cheaper, one repeat more", Inconclusive, "there are more repeated calls, though not beyond chance",
			one(cheaper, func(t *Trial) { t.RepeatedCalls = new(int64(3)) })},
		{"cheaper, outcomes unknown", Inconclusive, "the pass rate is not recorded in both arms",
			all(cheaper, func(t *Trial) { t.Passed = nil })},
		{"cheaper, repeats unknown", Inconclusive, "repeated calls are not recorded in both arms",
			all(cheaper, func(t *Trial) { t.RepeatedCalls = nil })},
		{"cheaper, score lower", Rejected, "the pass rate or score fell", scored(cheaper, 0.8)},
	} {
		v := Compare(scored(base, 0.9), c.candidate, Options{}).Verdict
		assert.Equal(t, c.verdict, v.Verdict, c.name)
		assert.Equal(t, c.reason, v.Reason, c.name)
	}
}

func TestIdenticalArmsAreATie(t *testing.T) {
	base := many(8, 3, 10, 10_000, 2, true)
	r := Compare(base, base, Options{})
	assert.True(t, r.Verdict.Tie)
	for _, d := range []*Delta{r.Deltas.Tokens, r.Deltas.Requests, r.Deltas.TokensPerRequest, r.Deltas.CostUSD, r.Deltas.RepeatedCalls, r.Deltas.PassRate} {
		assert.Zero(t, *d.Change)
		assert.Equal(t, "~", d.Mark)
	}
	assert.Equal(t, map[string]int{UnchangedPass: 8}, r.CaseVerdicts)
	assert.Nil(t, r.Need, "there is nothing to show")
}

// A cheaper candidate that no longer batches its calls is not kept unseen.
func TestParallelLost(t *testing.T) {
	base, candidate := many(8, 1, 10, 10_000, 0, true), many(8, 1, 9, 9000, 0, true)
	for i := range base {
		base[i].WidestBatch, candidate[i].WidestBatch = new(int64(2)), new(int64(2))
	}
	assert.Equal(t, Kept, Compare(base, candidate, Options{ExpectParallel: 2}).Verdict.Verdict)
	candidate[3].WidestBatch, candidate[3].Name = new(int64(1)), "three"
	r := Compare(base, candidate, Options{ExpectParallel: 2})
	assert.Equal(t, Inconclusive, r.Verdict.Verdict)
	assert.Equal(t, "fewer trials batch their calls: 7 of 8, before 8 of 8", r.Verdict.Reason)
	assert.Equal(t, []string{"three"}, r.Parallel.Candidate.Missed)
	assert.Nil(t, Compare(base, candidate, Options{ExpectParallel: 1}).Parallel)
}

func TestOneTask(t *testing.T) {
	r := Compare(many(1, 3, 10, 10_000, 0, true), many(1, 3, 9, 9000, 0, true), Options{})
	assert.Equal(t, 1, r.PairedTasks)
	assert.Equal(t, "too few trials: only 20 ways to deal them to the arms, 40 needed", r.Deltas.Tokens.Why)
	assert.Equal(t, Inconclusive, r.Verdict.Verdict)
	// Four and four trials can be told apart, for this task.
	r = Compare(many(1, 4, 10, 10_000, 0, true), many(1, 4, 9, 9000, 0, true), Options{})
	assert.True(t, r.Deltas.Tokens.Significant)
	assert.Equal(t, Kept, r.Verdict.Verdict)
}

func TestEmptyArms(t *testing.T) {
	some := many(2, 1, 3, 300, 0, true)
	for _, arms := range [][2][]Trial{{nil, nil}, {some, nil}, {nil, some}} {
		r := Compare(arms[0], arms[1], Options{ExpectParallel: 2})
		assert.Zero(t, r.PairedTasks)
		assert.Nil(t, r.Deltas.Tokens)
		assert.Equal(t, Inconclusive, r.Verdict.Verdict)
		assert.Contains(t, r.Verdict.Reason, "no task has tokens in both arms")
		assert.Contains(t, r.Warnings, "no task was run by both arms: nothing can be compared")
		assert.Equal(t, int64(len(arms[0])), r.Baseline.UnpairedTrials)
		assert.Len(t, r.Candidate.UnpairedTasks, len(arms[1]))
		valid(t, r)
	}
}

// Without usage there are still requests, repeats and outcomes.
func TestNoUsage(t *testing.T) {
	base, candidate := many(6, 1, 10, 10_000, 1, true), many(6, 1, 12, 10_000, 1, true)
	for _, arm := range [][]Trial{base, candidate} {
		for i := range arm {
			arm[i].Input, arm[i].Output, arm[i].CostUSD, arm[i].NoUsage, arm[i].Unpriced = nil, nil, nil, 10, 10
		}
	}
	r := Compare(base, candidate, Options{})
	assert.Nil(t, r.Deltas.Tokens)
	assert.Nil(t, r.Deltas.CostUSD)
	assert.Nil(t, r.Baseline.Tokens)
	assert.InDelta(t, 20, *r.Deltas.Requests.Percent, 1e-9)
	assert.Equal(t, "", r.Deltas.Factors())
	assert.Equal(t, Unknown, r.Verdict.Cost)
	assert.Contains(t, r.Warnings, "baseline: 6 trials hold no usage, or not for every answered request; such tokens do not count")
	valid(t, r)
}

// A trial without usage leaves the factors to those that have both.
func TestSomeUsage(t *testing.T) {
	base, candidate := many(2, 2, 10, 10_000, 0, true), many(2, 2, 10, 11_000, 0, true)
	candidate[0].Requests, candidate[0].Input, candidate[0].NoUsage = new(int64(99)), nil, 99
	r := Compare(base, candidate, Options{})
	assert.Zero(t, *r.Deltas.Requests.Change)
	assert.InDelta(t, 10, *r.Deltas.TokensPerRequest.Percent, 1e-9)
	assert.Contains(t, r.Warnings, "1 trial is left out of tokens and requests: only one of the two is there")
}

func TestUnpricedTrials(t *testing.T) {
	base, candidate := many(8, 1, 10, 10_000, 0, true), many(8, 1, 10, 9000, 0, true)
	candidate[0].Unpriced = 1
	candidate[1].CostUSD, candidate[1].Unpriced = nil, 10
	r := Compare(base, candidate, Options{})
	assert.InDelta(t, 6*0.009, *r.Candidate.CostUSD, 1e-12, "only what is fully priced")
	assert.Equal(t, int64(2), r.Candidate.Unpriced)
	assert.Equal(t, 6, r.Deltas.CostUSD.Tasks)
	assert.Equal(t, "tokens", r.Verdict.Basis)
	assert.Equal(t, Kept, r.Verdict.Verdict)
	assert.Contains(t, r.Verdict.Reason, "the number of tokens fell")
	assert.Contains(t, r.Warnings, "candidate: 2 trials have no full price; USD is over the others")
}

func TestExcludedTrials(t *testing.T) {
	base, candidate := many(2, 3, 10, 10_000, 0, true), many(2, 3, 10, 10_000, 0, true)
	candidate[0].Excluded, candidate[0].Passed = "exception", nil
	r := Compare(base, candidate, Options{})
	assert.Equal(t, int64(5), r.Candidate.Trials)
	assert.Equal(t, int64(1), r.Candidate.Excluded)
	assert.Equal(t, int64(10_000), *r.Candidate.ExcludedTokens)
	assert.Equal(t, int64(50_000), *r.Candidate.Tokens)
	assert.Equal(t, map[string]int{Inconclusive: 1, UnchangedPass: 1}, r.CaseVerdicts, "a missing trial decides nothing")
}

func TestClassify(t *testing.T) {
	for _, c := range []struct {
		bPassed, bRan, cPassed, cRan, trials float64
		want                                 string
	}{
		{3, 3, 3, 3, 3, UnchangedPass},
		{2, 3, 3, 3, 3, UnchangedPass},
		{1, 3, 0, 3, 3, UnchangedFail},
		{2, 4, 2, 4, 4, UnchangedFail}, // half is no majority
		{1, 3, 2, 3, 3, Inconclusive},  // one trial apart
		{0, 3, 2, 3, 3, Improved},
		{3, 3, 1, 3, 3, Regressed},
		{3, 3, 2, 2, 3, Inconclusive}, // a trial is missing
		{1, 1, 0, 1, 1, Inconclusive}, // one trial
		{0, 0, 0, 0, 0, Inconclusive},
	} {
		assert.Equal(t, c.want, Classify(c.bPassed, c.bRan, c.cPassed, c.cRan, c.trials), c)
	}
}

func TestGroup(t *testing.T) {
	of, tasks := group([]Task{
		{Case: "x", Prompt: "p"},
		{Checksum: "1", Name: "n1", Prompt: "q"},
		{Prompt: "p"},                            // as case x
		{Checksum: "2", Name: "n2", Prompt: "q"}, // another checksum proves nothing
		{Checksum: "1", Prompt: "r"},             // but an equal one does
		{Case: "y", Prompt: "p"},                 // another case is another task
		{}, {},                                   // nothing known: alone
	})
	assert.Equal(t, []int{0, 1, 0, 1, 1, 2, 3, 4}, of)
	assert.Len(t, tasks, 5)
	assert.Equal(t, "x", tasks[0].Label())
	assert.Equal(t, "n1", tasks[1].Label())
	assert.Equal(t, "unknown task", tasks[3].Label())
}

// A session as a reader makes it: a retry, a batch of three, a call by a script, a
// repeat, copied history.
func TestTrialOf(t *testing.T) {
	b := rollout.NewBuilder("test")
	b.Session.ID = "main"
	chain := b.Chain()
	said := func(text string, kind rollout.ItemKind) {
		chain.Add(rollout.SlotConversation, b.Item(rollout.Item{Kind: kind, Origin: rollout.Logged, Request: -1, Text: b.Text(text)}))
	}
	said("<env>linux</env>", rollout.ProjectContext)
	said(" Fix\n it. ", rollout.UserText)
	said("to do", rollout.Reminder)
	request := func(r rollout.Request) int {
		r.Kind, r.Run, r.Attempt, r.Base = rollout.KindTurn, 1, 1, -1
		return chain.Request(r)
	}
	usage := func(in, read, write, out int64) rollout.Usage {
		return rollout.Usage{Input: &in, CacheRead: &read, CacheWrite: &write, Output: &out}
	}
	request(rollout.Request{Status: rollout.Answered, Inherited: true, Usage: usage(900, 0, 0, 9)})
	request(rollout.Request{Status: rollout.Errored})
	k := request(rollout.Request{Status: rollout.Answered, Usage: usage(100, 0, 60, 10), OutputFinal: true})
	said("Thanks.", rollout.UserText)
	last := request(rollout.Request{Status: rollout.Answered, Usage: usage(150, 60, 70, 5)})
	call := func(request int, args, parent string, ran bool) {
		b.Call(rollout.Call{ID: string(rune('a' + len(b.Session.Calls))), Tool: "read", Class: rollout.ReadTool, Args: b.Text(args), Request: request, ArgsItem: -1, ResultItem: -1, Ran: ran, Parent: parent})
	}
	call(k, "1", "", true)
	call(k, "2", "", true)
	call(k, "3", "", false)
	call(k, "4", "a", true)
	call(last, "1", "", true)
	s := b.Finish()
	require.NoError(t, rollout.Check(s))
	facts := &measure.Measured{Calls: []measure.CallFacts{{RepeatOf: -1}, {RepeatOf: -1}, {RepeatOf: -1}, {RepeatOf: -1}, {RepeatOf: 0}}}
	child := &rollout.Session{ID: "child", Source: "test", ParentID: "main", Requests: []rollout.Request{{Status: rollout.Answered, OutputFinal: true, Usage: usage(30, 0, 0, 3)}}}
	lost := &rollout.Session{ID: "lost", Source: "test", ParentID: "elsewhere"}

	price := func(r rollout.Request) (float64, bool) { return 0.5, r.Usage.Input != nil && *r.Usage.Input != 150 }
	recs := []replay.Recording{{Session: child, Sizes: &measure.Measured{}}, {Session: s, Sizes: facts}, {Session: lost, Sizes: &measure.Measured{}}}
	trials, warnings := Trials(recs, price)
	require.Len(t, trials, 2)
	assert.Equal(t, []string{"1 sub-agent session has no parent here; each counts as a trial of its own"}, warnings)
	got := trials[0]
	assert.Equal(t, Sums{
		Sessions: 2, Requests: new(int64(4)), Answered: new(int64(3)),
		Input: new(int64(280)), Uncached: new(int64(40 + 20 + 30)), CacheRead: new(int64(60)), CacheWrite: new(int64(130)), Output: new(int64(18)),
		Calls: new(int64(4)), RepeatedCalls: new(int64(1)), WidestBatch: new(int64(3)), CostUSD: new(1.0), Unpriced: 1, Snapshots: 1,
	}, got.Sums)
	assert.Equal(t, int64(298), *got.Tokens())
	assert.False(t, got.Priced())
	// printf 'Fix it.\nThanks.' | sha256sum
	assert.Equal(t, "01ce1b8725989bc12d6e39b8d901f2c43d25fa451fe42c086c0b0ad437fa7e00", got.Task.Prompt)
	p := parallelArm(3, trials)
	assert.Equal(t, ParallelArm{Trials: 2, Met: 1, Missed: []string{"lost"}}, p)
}

func TestLineFor(t *testing.T) {
	for _, c := range []struct{ variant, want string }{
		{"compress", "freecode eval ab SUITE --candidate env:FREECODE_BASH_COMPRESS=1 --baseline env:FREECODE_BASH_COMPRESS=0 --trials 7"},
		{"compress:min=30000+no-line-numbers", "freecode eval ab SUITE --candidate env:FREECODE_BASH_COMPRESS=1,env:FREECODE_READ_LINE_NUMBERS=0" +
			" --baseline env:FREECODE_BASH_COMPRESS=0,env:FREECODE_READ_LINE_NUMBERS=1 --trials 7"},
		{"prompt:file=x.md", "freecode eval ab SUITE --candidate env:FREECODE_SYSTEM_FILE=FILE --trials 7"},
		{"prompt:add=x.md", "freecode eval ab SUITE --candidate env:FREECODE_APPEND_SYSTEM_FILE=FILE --trials 7"},
		{"prompt:file=x.md,add=y.md", "freecode eval ab SUITE --candidate env:FREECODE_SYSTEM_FILE=SYSTEM,env:FREECODE_APPEND_SYSTEM_FILE=APPEND --trials 7"},
		{"prompt:add=x.md+batch-reads", "freecode eval ab SUITE --candidate env:FREECODE_APPEND_SYSTEM_FILE=FILE --trials 7"},
		{"prompt:file=x.md+prompt:file=y.md", ""},
		{"prompt", ""},
		{"mask", ""},
		{"compress+mask", ""},
	} {
		use, err := variants.Parse(c.variant)
		require.NoError(t, err, c.variant)
		l, ok := LineFor("freecode", use, &Need{PerTask: 7})
		assert.Equal(t, c.want, l.Command, c.variant)
		assert.Equal(t, c.want != "", ok, c.variant)
	}
	use, err := variants.Parse("no-line-numbers")
	require.NoError(t, err)
	_, ok := LineFor("codex", use, nil)
	assert.False(t, ok)
	l, _ := LineFor("freecode", use, nil)
	assert.False(t, strings.Contains(l.Command, "--trials"))
}

// valid says that a result can be written as JSON: no NaN, no infinity.
func valid(t *testing.T, r *Result) map[string]any {
	data, err := json.Marshal(r)
	require.NoError(t, err)
	var out map[string]any
	require.NoError(t, json.Unmarshal(data, &out))
	return out
}

func TestJSONKeys(t *testing.T) {
	out := valid(t, Compare(many(2, 1, 3, 300, 0, true), many(2, 1, 3, 270, 0, true), Options{Names: [2]string{"a", "b"}}))
	var keys []string
	for k := range out {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	assert.Equal(t, []string{"baseline", "candidate", "case_verdicts", "deltas", "method", "paired_tasks", "parallel", "predicted",
		"schema_version", "source", "tasks", "trials_needed", "turn_matched", "verdict", "warnings"}, keys)
	assert.Equal(t, 1.0, out["schema_version"])
	tokens := out["deltas"].(map[string]any)["tokens"].(map[string]any)
	assert.InDelta(t, -10, tokens["percent"], 1e-9)
	assert.Equal(t, "a", out["baseline"].(map[string]any)["name"])
}
