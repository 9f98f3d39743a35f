package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/term/termtest"
)

// TestCompareTwoArms holds the figures worked out in testdata/ab/README.md: 43 against
// 39 requests are +10.3 %, 218,112 against 195,000 tokens +11.9 %, and 5072.4 against
// 5000 tokens per request +1.4 %.
func TestCompareTwoArms(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	base, candidate := testdata("ab", "base"), testdata("ab", "candidate")
	args := []string{"compare", base, candidate, "--predicted", testdata("ab", "predicted.json"), "--expect-parallel", "2"}
	got := h.run(append(args, "--width", "80")...)
	require.Equal(t, 0, got.code, got.stderr)
	termtest.CheckTerminal(t, got.stdout, 80, false)
	for _, part := range []string{
		"fclog compare  base → candidate", "rejected, by the shipping criterion", "+11.9 % tokens = +10.3 % requests × +1.4 % tokens per request.",
		"13 paired tasks", "base: 0 of 13 trials", "FreeCode's", "To show the change measured here",
	} {
		assert.Contains(t, got.stdout, part)
	}
	// Tokens per request do not change beyond chance: the interval holds 0.
	assert.Regexp(t, `(?m)^    × tokens per request +5\.00K +5\.07K +~\+1\.4 %`, got.stdout)
	assert.Regexp(t, `(?m)^    = requests +3\.00 +3\.31 +\+10\.3 %`, got.stdout)
	// 19,500 of 195,000 tokens were to be saved, at the same number of requests.
	assert.Regexp(t, `(?m)^  compress +-10\.0 % +\+1\.4 %`, got.stdout)

	got = h.run(append(args, "--format", "json")...)
	require.Equal(t, 0, got.code, got.stderr)
	var out struct {
		SchemaVersion int `json:"schema_version"`
		Baseline      struct{ Requests, Tokens int64 }
		Candidate     struct{ Requests, Tokens int64 }
		Verdict       struct{ Verdict string }
	}
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &out))
	assert.Equal(t, 1, out.SchemaVersion)
	assert.EqualValues(t, 39, out.Baseline.Requests)
	assert.EqualValues(t, 13*15000, out.Baseline.Tokens)
	assert.EqualValues(t, 9*3+4*4, out.Candidate.Requests)
	assert.EqualValues(t, 9*14800+4*21228, out.Candidate.Tokens)
	assert.Equal(t, "rejected", out.Verdict.Verdict)

	got = h.run(append(args, "--format", "md")...)
	require.Equal(t, 0, got.code, got.stderr)
	assert.Contains(t, got.stdout, "# fclog compare")
}

// TestReplayThenCompare: what replay writes, compare reads.
func TestReplayThenCompare(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	file := filepath.Join(h.dir, "replay.json")
	got := h.run("replay", testdata("ab", "base"), "--variant", "cap:max=20", "--format", "json", "-o", file)
	require.Equal(t, 0, got.code, got.stderr)
	got = h.run("compare", testdata("ab", "base"), testdata("ab", "candidate"), "--predicted", file)
	require.Equal(t, 0, got.code, got.stderr)
	assert.Contains(t, got.stdout, "Estimated before, measured now")
	assert.Contains(t, got.stdout, "cap:max=20")
}

// TestCompareReports: FreeCode's published turn-matched rows are +425 to +454 tokens
// per request, (105,231 − 103,935) / 3 = 432 among them.
func TestCompareReports(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	got := h.run("compare", testdata("ab", "eval-ab.json"))
	require.Equal(t, 0, got.code, got.stderr)
	assert.Contains(t, got.stdout, "+425 to +454 tokens per request on 6 tasks with equal requests.")

	got = h.run("compare", testdata("ab", "experiments.jsonl"), "--width", "80")
	require.Equal(t, 0, got.code, got.stderr)
	termtest.CheckTerminal(t, got.stdout, 80, false)
	assert.Contains(t, got.stdout, "3 experiments")
	assert.Regexp(t, `~\+11\.9 % +~\+10\.3 % +~\+1\.4 %`, got.stdout)

	got = h.run("compare", testdata("ab", "experiments.jsonl"), "--format", "json")
	require.Equal(t, 0, got.code, got.stderr)
	var list []struct{ Name string }
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &list))
	require.Len(t, list, 3)
	got = h.run("compare", testdata("ab", "experiments.jsonl"), "--experiment", list[0].Name)
	require.Equal(t, 0, got.code, got.stderr)
	assert.Contains(t, got.stdout, "inconclusive, by the shipping criterion")
}

// TestCompareTakesRewardsBesideLogs: a result.json beside a log names its task and
// says whether it passed.
func TestCompareTakesRewardsBesideLogs(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for arm, reward := range map[string]string{"a": "1.0", "b": "0.0"} {
		dir := filepath.Join(h.dir, arm, "trial")
		require.NoError(t, os.MkdirAll(dir, 0o755))
		copyFile(t, testdata("codex", "poll-0.104.jsonl"), filepath.Join(dir, "log.jsonl"))
		result := `{"trial_name":"one__` + arm + `","task_name":"one","verifier_result":{"rewards":{"reward":` + reward + `}}}`
		require.NoError(t, os.WriteFile(filepath.Join(dir, "result.json"), []byte(result), 0o644))
	}
	got := h.run("compare", filepath.Join(h.dir, "a"), filepath.Join(h.dir, "b"), "--width", "100")
	require.Equal(t, 0, got.code, got.stderr)
	assert.Contains(t, got.stdout, "1 of 1")
	assert.Contains(t, got.stdout, "0 of 1")
	assert.Regexp(t, `(?m)^  one +1 → 1 `, got.stdout)
}

func TestPromptsNamesWhatIsLost(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	base, variant := filepath.Join(h.dir, "base.md"), filepath.Join(h.dir, "new\x1b[31m.md")
	require.NoError(t, os.WriteFile(base, []byte("Requesting input from the user is a blocking action. Be concise.\n"), 0o644))
	require.NoError(t, os.WriteFile(variant, []byte("Be concise.\x1b[2J\n"), 0o644))
	got := h.run("prompts", base, variant)
	require.Equal(t, 0, got.code, got.stderr)
	assert.Contains(t, got.stdout, "1 rule is lost.")
	assert.Contains(t, got.stdout, "- Requesting input from the user is a blocking action.")
	assert.Regexp(t, `(?m)^  asking-blocks +lost `, got.stdout)
	assert.Regexp(t, `(?m)^  short-answers +kept `, got.stdout)
	termtest.CheckTerminal(t, got.stdout, 80, false)
	assert.Equal(t, 1, h.run("prompts", base, variant, "--fail").code)
	assert.Equal(t, 0, h.run("prompts", base, base, "--fail").code)

	got = h.run("prompts", base, variant, "--log", testdata("codex", "poll-0.104.jsonl"), "--format", "json")
	require.Equal(t, 0, got.code, got.stderr)
	var out struct {
		Lost      []struct{ Rule string }
		Widths    []struct{ Calls, Responses int64 } `json:"batch_widths"`
		Serialize struct {
			Variants []struct {
				AddedRequests int64 `json:"added_requests"`
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &out))
	require.Len(t, out.Lost, 1)
	// The log has one response with two calls and one, the poll, with a single one.
	assert.Equal(t, []struct{ Calls, Responses int64 }{{1, 1}, {2, 1}}, out.Widths)
	assert.EqualValues(t, 1, out.Serialize.Variants[0].AddedRequests)
}

// A report in which no figure stands on both sides is no success.
func TestCompareReportWithNothingInIt(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	const (
		oneSided = `{"sides":{},"cases":[{"id":"a","baseline":{"ran":1,"passed":1,"tokens":10,"turns":1},"candidate":{"ran":0}}]}`
		empty    = `{"sides":{},"cases":[]}`
		blank    = `{"sides":{},"totals":{"baseline":{},"candidate":{}}}`
		whole    = `{"id":"w","totals":{"baseline":{"tokens":10,"turns":1},"candidate":{"tokens":11,"turns":1}}}`
	)
	for text, want := range map[string]string{
		oneSided:                "holds nothing to compare: no case, and no total, has a figure on both sides",
		empty:                   "holds nothing to compare: no case, and no total, has a figure on both sides",
		blank:                   "holds nothing to compare: no case, and no total, has a figure on both sides",
		empty + "\n" + oneSided: "none of the 2 experiments of",
	} {
		file := filepath.Join(h.dir, "report.json")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		for _, format := range []string{"term", "md", "json"} {
			got := h.run("compare", file, "--format", format)
			assert.Equal(t, 3, got.code, text)
			assert.Empty(t, got.stdout)
			assert.Contains(t, got.stderr, want)
		}
	}
	file := filepath.Join(h.dir, "mixed.jsonl")
	require.NoError(t, os.WriteFile(file, []byte(empty+"\n"+whole), 0o600))
	got := h.run("compare", file)
	require.Equal(t, 0, got.code, got.stderr)
	assert.Contains(t, got.stdout, "+10.0 %")
}

// The base may be what a log holds: there it is "You are a coding agent.", six tokens.
func TestPromptsWithALogAsBase(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	text := filepath.Join(h.dir, "new.md")
	require.NoError(t, os.WriteFile(text, []byte("Be brief."), 0o600))
	for base, want := range map[string]int64{testdata("codex", "poll-0.104.jsonl"): count(t, "You are a coding agent."), text: count(t, "Be brief.")} {
		got := h.run("prompts", base, text, "--format", "json")
		require.Equal(t, 0, got.code, got.stderr)
		var out struct {
			BaseTokens    int64 `json:"base_tokens"`
			VariantTokens int64 `json:"variant_tokens"`
		}
		require.NoError(t, json.Unmarshal([]byte(got.stdout), &out))
		assert.Equal(t, want, out.BaseTokens)
		assert.Equal(t, count(t, "Be brief."), out.VariantTokens)
	}
	got := h.run("prompts", testdata("codex", "resume-0.57.jsonl"), text)
	assert.Equal(t, 3, got.code)
	assert.Contains(t, got.stderr, "does not hold the system prompt; name a text file as BASE")
	tools := filepath.Join(h.dir, "tools.md")
	require.NoError(t, os.WriteFile(tools, []byte("---\nreplaces: tools\n---\n[]"), 0o600))
	got = h.run("prompts", testdata("codex", "poll-0.104.jsonl"), tools)
	assert.Equal(t, 3, got.code)
	assert.Contains(t, got.stderr, "does not hold the tool definitions")
}

// TestCompareHarborArms holds the figures of testdata/atif/README.md: the trials of one
// folder in two arms, tokens known for the sessions as a whole: 23,200 against 20,700 are
// +12.1 %, the rewards 0.75 and 1, and two trials an arm are too few.
func TestCompareHarborArms(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	runs := testdata("atif", "runs")
	got := h.run("compare", runs, "--width", "160")
	require.Equal(t, 0, got.code, got.stderr)
	termtest.CheckTerminal(t, got.stdout, 160, false)
	for _, part := range []string{
		"fclog compare  reasoning_effort=low → reasoning_effort=medium", "+12.1 % tokens", "too few trials: only 6 ways",
		"the tokens of 2 trials are reported for the session as a whole, no", "To show the change measured here",
	} {
		assert.Contains(t, got.stdout, part)
	}
	assert.Regexp(t, `(?m)^  score +0\.75 +1\.00`, got.stdout)
	two := h.run("compare", filepath.Join(runs, "low"), filepath.Join(runs, "medium"), "--format", "json")
	require.Equal(t, 0, two.code, two.stderr)
	var out struct{ Baseline, Candidate map[string]any }
	require.NoError(t, json.Unmarshal([]byte(two.stdout), &out))
	assert.EqualValues(t, 9000+300+11000+400, out.Baseline["tokens"])
	assert.EqualValues(t, 8000+500+14000+700, out.Candidate["tokens"])
	assert.EqualValues(t, 2, out.Candidate["reported_trials"])
	got = h.run("compare", filepath.Join(runs, "low"))
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.stderr, "1 arm, not of two")
}

// TestAuditOfWholeSessions: totals that a log reports for a session as a whole are
// labelled so in every form. 9,000 + 11,000 + 8,000 + 14,000 tokens of input.
func TestAuditOfWholeSessions(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	const label = "reported for the session as a whole, no input per request"
	for _, format := range []string{"term", "md"} {
		args := []string{"audit", testdata("atif", "runs"), "--format", format}
		if format == "term" {
			args = append(args, "--width", "160")
		}
		got := h.run(args...)
		require.Equal(t, 0, got.code, got.stderr)
		assert.Contains(t, got.stdout, label)
		assert.Contains(t, got.stdout, "42,000")
	}
	got := h.run("audit", testdata("atif", "runs"), "--format", "json")
	require.Equal(t, 0, got.code, got.stderr)
	var out struct{ Totals map[string]any }
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &out))
	assert.EqualValues(t, 42000, out.Totals["input_tokens"])
	assert.EqualValues(t, 4, out.Totals["reported_sessions"])
	assert.EqualValues(t, 0, out.Totals["requests_without_usage"])
}
