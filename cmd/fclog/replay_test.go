package main_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/devdata"
	"github.com/fclog/fclog/internal/term/termtest"
)

func TestReplayCommandLines(t *testing.T) {
	t.Parallel()
	log := testdata("codex", "poll-0.104.jsonl")
	full := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(full, "kept"), nil, 0o644))
	for _, c := range []struct {
		args           string
		code           int
		stdout, stderr string
	}{
		{"replay --help", 0, "--variant & --variants & --emit & --diff & --calibrate & --rates", ""},
		{"__complete replay --variant inl", 0, "inline-batching", ""},
		{"replay LOG --variant nonsense", 2, "", "unknown variant & there are compress & fclog replay --help"},
		{"replay LOG --variant cap:max=none", 2, "", "option max: want a whole number"},
		{"replay LOG --variant cap:most=3", 2, "", `no option "most"`},
		{"replay LOG --variant cap --variant cap", 2, "", "given twice"},
		{"replay LOG --variant cap+", 2, "", "a variant has no name"},
		{"replay LOG --format pdf", 2, "", "not one of term, md, json, html"},
		{"replay LOG --compact", 2, "", "--compact"},
		{"replay LOG --lines 0", 2, "", "--lines"},
		{"replay LOG --top 0", 2, "", "--top"},
		{"replay --demo --variant no-line-numbers --top 4", 0, "16 items edited & and 12 more contributions", ""},
		{"replay LOG --diff --format json", 2, "", "--diff"},
		{"replay LOG --demo", 2, "", "--demo"},
		{"replay LOG --calibrate --variant cap", 2, "", "--calibrate"},
		{"replay LOG -V prompt", 2, "", "nothing to send: give file= or add="},
		{"replay LOG -V prompt:file=no-such-prompt", 2, "", `no prompt file or variant "no-such-prompt"`},
		{"replay LOG -V prompt:add=no-such-text", 2, "", `no prompt file or variant "no-such-text"`},
		{"replay LOG -V prompt:add=FULL", 1, "", "add cannot be used"},
		{"replay LOG -V exec:cmd=no-such-program", 2, "", "no-such-program"},
		{"replay LOG -V exec:cmd=cat", 0, "nothing to change here", ""},
		{"replay LOG --variants no-such.yaml", 1, "", "no-such.yaml"},
		{"replay LOG --rates no-such.json", 1, "", "no-such.json"},
		{"replay LOG --variant cap --emit FULL", 1, "", "is not empty"},
		{"replay LOG --variant cap --emit LOG", 1, "", "--emit"},
		{"replay no-such-file", 1, "", "no-such-file"},
		{"replay LOG --model none-such --variant cap", 3, "", "no session matches the selection"},

		{"replay LOG", 0, "compress & tail-reminders & unsupported & It is not the expected", "the usual variants"},
		{"replay LOG -V cap:max=20 --format md", 0, "# fclog replay & | variant | saved | share | USD saved | of cost | removed | detours | break-even | pairs | verdict | & `cap:max=20`", ""},
		{"replay --demo -V mask --format json --compact", 0, `"file":"bundled session"`, ""},
		{"replay LOG --calibrate", 0, "How often agents went back & Not checked", ""},

		{"compare", 2, "", "0 arguments given; it is"},
		{"compare LOG LOG --expect-parallel 1", 2, "", "--expect-parallel"},
		{"compare FULL", 3, "", "no session log found"},
		{"compare ../../testdata/codex", 2, "", "CANDIDATE is missing"},
		{"compare LOG LOG --experiment x", 2, "", "--experiment"},
		{"compare LOG LOG --predicted no-such.json", 1, "", "no-such.json"},
		{"compare LOG", 1, "", "no A/B report"},
		{"compare LOG LOG", 2, "", "BASE and CANDIDATE are the same"},
		{"compare LOG ../../testdata/codex/fork-parent.jsonl", 3, "", "no task is in both arms"},
		{"compare LOG no-such-folder", 1, "", "no-such-folder"},
		{"compare ../../testdata/ab/experiments.jsonl --experiment none", 3, "", `no experiment "none"`},

		{"variants", 0, "compress & no-line-numbers & exec", ""},
		{"variants mask", 0, "keep & newest tool results that stay & Needs:", ""},
		{"variants nonsense", 2, "", `no variant "nonsense"`},
		{"variants --format json", 0, `"name": "mask"`, ""},
		{"prompts", 0, "parallel-calls & ask-first", ""},
		{"prompts agent", 2, "", "VARIANT is missing"},
		{"prompts agent no-such-prompt", 1, "", "no-such-prompt"},
		{"prompts agent lean", 0, "No rule is lost.", ""},
	} {
		t.Run(c.args, func(t *testing.T) {
			t.Parallel()
			var args []string
			for _, a := range strings.Fields(c.args) {
				args = append(args, strings.NewReplacer("LOG", log, "FULL", full).Replace(a))
			}
			got := newHome(t).run(args...)
			assert.Equal(t, c.code, got.code, "stderr: %s", got.stderr)
			for _, part := range strings.Split(c.stdout, " & ") {
				assert.Contains(t, got.stdout, part)
			}
			for _, part := range strings.Split(c.stderr, " & ") {
				assert.Contains(t, got.stderr, part)
			}
			if c.code != 0 {
				assert.Empty(t, got.stdout)
				assert.True(t, strings.HasPrefix(got.stderr, "fclog: "), got.stderr)
			}
		})
	}
}

// replayed is what the tests read of `fclog replay --format json`.
type replayed struct {
	Baseline struct {
		Requests, InputTokens, OutputTokens *int64
	}
	Variants []replayedVariant
}

type replayedVariant struct {
	Variant            string   `json:"variant"`
	InputTokens        *int64   `json:"input_tokens"`
	StaticSavingTokens *int64   `json:"static_saving_tokens"`
	SavedCountedTokens int64    `json:"saved_counted_tokens"`
	EditedItems        int64    `json:"edited_items"`
	Basis              string   `json:"basis"`
	Verdict            string   `json:"verdict"`
	Unsupported        *string  `json:"unsupported"`
	Warnings           []string `json:"warnings"`
}

func (h home) replay(args ...string) replayed {
	h.t.Helper()
	got := h.run(append([]string{"replay", "--format", "json"}, args...)...)
	require.Equal(h.t, 0, got.code, got.stderr)
	var out replayed
	require.NoError(h.t, json.Unmarshal([]byte(got.stdout), &out))
	return out
}

var reference = sync.OnceValues(func() (*tiktoken.Tiktoken, error) {
	tiktoken.SetBpeLoader(loader.NewOfflineLoader())
	return tiktoken.GetEncoding("o200k_base")
})

// count is the number of tokens by another tokenizer than fclog's own.
func count(t *testing.T, text string) int64 {
	t.Helper()
	encoding, err := reference()
	require.NoError(t, err)
	return int64(len(encoding.EncodeOrdinary(text)))
}

// emittedText is a row of the index that --emit writes.
type emittedText struct {
	Variant      string
	Item         *int64
	Chain        int64
	FirstRequest int64 `json:"first_request"`
	LastRequest  int64 `json:"last_request"`
	File, SHA256 *string
}

func index(t *testing.T, dir string) []emittedText {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "index.json"))
	require.NoError(t, err)
	var rows []emittedText
	require.NoError(t, json.Unmarshal(data, &rows))
	return rows
}

// sentPart is one part of a request as `fclog payload --format json` lists it.
type sentPart struct {
	chain, request int64
	item, tokens   int64
}

func (h home) sent(log string) []sentPart {
	h.t.Helper()
	got := h.run("payload", log, "--format", "json")
	require.Equal(h.t, 0, got.code, got.stderr)
	var out []sentPart
	for line := range strings.Lines(got.stdout) {
		var r struct {
			Chain, Request int64
			Parts          []struct {
				Item   int64
				Tokens *int64
			}
		}
		require.NoError(h.t, json.Unmarshal([]byte(line), &r))
		for _, p := range r.Parts {
			n := int64(0)
			if p.Tokens != nil {
				n = *p.Tokens
			}
			out = append(out, sentPart{r.Chain, r.Request, p.Item, n})
		}
	}
	return out
}

// TestReplayIsWhatTheTextsSay adds up what each request would have carried less:
// the parts it carried, from `fclog payload`, against the texts that --emit wrote,
// counted by another tokenizer. Raw tokens count as the provider's in these logs.
func TestReplayIsWhatTheTextsSay(t *testing.T) {
	t.Parallel()
	specs := []string{"cap:max=20", "mask:keep=0", "mask:keep=1", "no-line-numbers", "cap:max=20+mask:keep=1", "drop-unused-tools"}
	edited := 0
	for log, input := range recordedInput {
		h := newHome(t)
		dir, path := filepath.Join(h.dir, "texts"), testdata("codex", log)
		args := []string{path, "--emit", dir}
		for _, spec := range specs {
			args = append(args, "--variant", spec)
		}
		got := h.replay(args...)
		rows, sent := index(t, dir), h.sent(path)
		edited += len(rows)
		for i, spec := range specs {
			v := got.Variants[i]
			if v.Unsupported != nil {
				continue
			}
			require.Regexp(t, `own tokenizer$|not calibrated.*: one provider token for one counted$`, v.Basis)
			want := savedOf(t, dir, spec, rows, sent)
			assert.Equal(t, want, *v.StaticSavingTokens, "%s %s", log, spec)
			assert.Equal(t, input, *v.InputTokens+want, "%s %s", log, spec)
		}
	}
	assert.Greater(t, edited, 15, "the test must test something")
}

func savedOf(t *testing.T, dir, variant string, rows []emittedText, sent []sentPart) int64 {
	t.Helper()
	saved := int64(0)
	for _, row := range rows {
		for _, p := range sent {
			if row.Variant != variant || *row.Item != p.item || row.Chain != p.chain || p.request < row.FirstRequest || p.request > row.LastRequest {
				continue
			}
			saved += p.tokens
			if row.File != nil {
				text, err := os.ReadFile(filepath.Join(dir, *row.File))
				require.NoError(t, err)
				saved -= count(t, string(text))
			}
		}
	}
	return saved
}

// recordedInput is the input of the logs, added up by hand in testdata/codex/README.md.
var recordedInput = map[string]int64{
	"poll-0.104.jsonl": 21035, "resume-0.57.jsonl": 3300, "fork-parent.jsonl": 6100, "compaction-0.118.jsonl": 15290, "code-mode-0.160.jsonl": 27220,
}

const ownVariants = `variants:
  - name: brief
    title: one more sentence in front
    steps:
      - add:
          text: Answer in one short sentence.
          kind: system_prompt
  - name: brief-and-cut
    steps:
      - use: cap
        options: {max: 20}
      - add: {text: Answer in one short sentence.}
`

// TestAddedTextIsPaidByEveryRequest: four requests of 21,035 input tokens each carry
// the sentence, "Answer| in| one| short| sentence|." = 6 tokens, so 4 × 6 = 24 more.
func TestAddedTextIsPaidByEveryRequest(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	file := filepath.Join(h.dir, "own.yaml")
	require.NoError(t, os.WriteFile(file, []byte(ownVariants), 0o644))
	log := testdata("codex", "poll-0.104.jsonl")
	got := h.replay(log, "--variants", file)
	require.Len(t, got.Variants, 2, "all own variants where none is named")
	assert.EqualValues(t, 6, count(t, "Answer in one short sentence."))
	assert.EqualValues(t, -24, *got.Variants[0].StaticSavingTokens)
	assert.EqualValues(t, 21035+24, *got.Variants[0].InputTokens)

	both := h.replay(log, "--variants", file, "--variant", "brief", "--variant", "cap:max=20", "--variant", "brief-and-cut")
	require.Len(t, both.Variants, 3)
	assert.Equal(t, *both.Variants[1].StaticSavingTokens-24, *both.Variants[2].StaticSavingTokens)
}

func TestReplayKeys(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	got := h.run("replay", testdata("codex", "poll-0.104.jsonl"), "--variant", "cap:max=20", "--format", "json")
	require.Equal(t, 0, got.code, got.stderr)
	var out map[string]any
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &out))
	for _, key := range []string{"schema_version", "sessions", "baseline", "variants"} {
		assert.Contains(t, out, key)
	}
	for _, key := range []string{"requests", "input_tokens", "output_tokens", "cost_usd"} {
		assert.Contains(t, out["baseline"], key)
	}
	v := out["variants"].([]any)[0]
	for _, key := range []string{
		"variant", "options", "requests", "input_tokens", "output_tokens", "cost_usd", "static_saving_tokens", "static_saving_output_tokens",
		"static_saving_share", "static_saving_usd", "static_saving_usd_share", "edited_items", "removed_requests_low", "removed_requests_high", "break_even_requests_tokens",
		"break_even_requests_usd", "detours", "trials_needed", "basis", "verdict", "warnings",
	} {
		assert.Contains(t, v, key)
	}
	detours := v.(map[string]any)["detours"]
	for _, key := range []string{"expected", "low", "high", "evidence"} {
		assert.Contains(t, detours, key)
	}
	for _, key := range []string{"later_used", "null_rate", "base_rate", "truncations", "recoveries"} {
		assert.Contains(t, detours.(map[string]any)["evidence"], key)
	}
}

// TestReplayReadsWhatAuditReads: a log, its folder, a dataset and the standard input
// hold the same session.
func TestReplayReadsWhatAuditReads(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	log, dataset := testdata("codex", "poll-0.104.jsonl"), filepath.Join(h.dir, "dataset")
	require.Equal(t, 0, h.run("import", log, "-o", dataset).code)
	want := h.replay(log, "--variant", "cap:max=20")
	assert.Equal(t, want, h.replay(dataset, "--variant", "cap:max=20"))
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	got := h.feed(string(text), "replay", "-", "--variant", "cap:max=20", "--format", "json")
	require.Equal(t, 0, got.code, got.stderr)
	assert.Contains(t, got.stdout, `"file": "standard input"`)
	assert.NotContains(t, got.stdout, "fclog-", "no temporary path gets out")

	bare := filepath.Join(h.dir, "bare")
	require.Equal(t, 0, h.run("import", log, "-o", bare, "--no-text").code)
	got = h.run("replay", bare, "--variant", "cap")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stderr, "imported without its texts")
}

// TestReplayOfSessionsWithoutUsage: what changes is then known as counted tokens
// alone, here 6 more in each of 2 requests.
func TestReplayOfSessionsWithoutUsage(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	file := filepath.Join(h.dir, "own.yaml")
	require.NoError(t, os.WriteFile(file, []byte(ownVariants), 0o644))
	log := testdata("codex", "pre-envelope.jsonl")
	v := h.replay(log, "--variants", file, "--variant", "brief").Variants[0]
	assert.Nil(t, v.StaticSavingTokens)
	assert.EqualValues(t, -12, v.SavedCountedTokens)
	got := h.run("replay", log, "--variants", file, "--variant", "brief", "--width", "80")
	assert.Contains(t, got.stdout, "no usage in the log; 12 more counted tokens")
	assert.Regexp(t, `(?m)^  brief +– +– +– +0 +–$`, got.stdout)
}

func TestReplayOfHostileLog(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	log := filepath.Join(h.dir, "hostile.jsonl")
	require.NoError(t, os.WriteFile(log, hostileLog(t), 0o644))
	own := filepath.Join(h.dir, "own.yaml")
	require.NoError(t, os.WriteFile(own, []byte("variants:\n  - name: red\n    title: \"\\e[31mred\"\n    steps:\n      - replace: {pattern: '.', with: \"\\e[31m$0\\u202e\"}\n"), 0o644))
	specs := []string{"--variant", "mask:keep=0", "--variant", "cap:max=1", "--variants", own, "--variant", "red"}
	for n, args := range [][]string{{"--width", "80"}, {"--width", "160"}, {"--format", "md"}, {"--format", "json"}} {
		dir := filepath.Join(h.dir, fmt.Sprint("texts", n))
		all := append(append([]string{"replay", log, "--details", "--emit", dir}, specs...), args...)
		if args[1] != "json" {
			all = append(all, "--diff")
		}
		got := h.run(all...)
		require.Equal(t, 0, got.code, got.stderr)
		width := 1 << 30
		if args[0] == "--width" {
			_, err := fmt.Sscan(args[1], &width)
			require.NoError(t, err)
		}
		termtest.CheckTerminal(t, got.stdout, width, false)
		assert.NotContains(t, got.stdout, "\x1b")
		checkEmitted(t, dir)
	}
	again := filepath.Join(t.TempDir(), "again.jsonl")
	data, err := os.ReadFile(log)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(again, data, 0o600))
	got := h.run("compare", log, again)
	require.Equal(t, 0, got.code, got.stderr)
	termtest.CheckTerminal(t, got.stdout, 80, false)
}

// checkEmitted: all texts are below the folder, under names of plain letters, for
// their owner alone, and the index tells their hash.
func checkEmitted(t *testing.T, dir string) {
	t.Helper()
	rows := index(t, dir)
	require.NotEmpty(t, rows)
	files := 0
	require.NoError(t, filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		require.NoError(t, err)
		rel, err := filepath.Rel(dir, path)
		require.NoError(t, err)
		assert.Regexp(t, `^[A-Za-z0-9._/\\-]+$`, rel)
		want := os.FileMode(0o600)
		if info.IsDir() {
			want = 0o700
		} else {
			files++
		}
		if runtime.GOOS != "windows" {
			assert.Equal(t, want, info.Mode().Perm(), rel)
		}
		return nil
	}))
	listed := map[string]bool{"index.json": true}
	for _, row := range rows {
		if row.File == nil {
			continue
		}
		listed[*row.File] = true
		text, err := os.ReadFile(filepath.Join(dir, *row.File))
		require.NoError(t, err)
		sum := sha256.Sum256(text)
		assert.Equal(t, hex.EncodeToString(sum[:]), *row.SHA256)
	}
	assert.Equal(t, len(listed), files)
}

func TestReplayShowsWhatGoes(t *testing.T) {
	t.Parallel()
	got := newHome(t).run("replay", testdata("codex", "poll-0.104.jsonl"), "--variant", "mask:keep=0", "--diff", "--lines", "6")
	require.Equal(t, 0, got.code, got.stderr)
	assert.Contains(t, got.stdout, "Texts changed by mask:keep=0")
	assert.Contains(t, got.stdout, "\n  +[old tool result left out")
	assert.Regexp(t, `\n  -\S`, got.stdout)
}

func TestCalibrateAndUse(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	file := filepath.Join(h.dir, "rates.json")
	got := h.run("replay", testdata("codex"), "--calibrate", "-o", file)
	require.Equal(t, 0, got.code, got.stderr)
	assert.Contains(t, got.stdout, "How often agents went back")
	var rates struct {
		SchemaVersion int `json:"schema_version"`
		Sessions      int
	}
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &rates))
	assert.Equal(t, 1, rates.SchemaVersion)
	assert.Equal(t, 8, rates.Sessions, "the files of testdata/codex")
	got = h.run("replay", testdata("codex", "poll-0.104.jsonl"), "--rates", file, "--variant", "mask:keep=0")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stderr, "holds no truncated output", "none of those logs has one")
	got = h.run("replay", "--demo", "--calibrate", "-o", file)
	require.Equal(t, 0, got.code, got.stderr)
	got = h.run("replay", testdata("codex", "poll-0.104.jsonl"), "--rates", file, "--variant", "mask:keep=0")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stderr, "holds no whole output", "the bundled session has no other output of that kind")
	got = h.run("replay", testdata("opencode"), "--calibrate", "-o", file)
	require.Equal(t, 0, got.code, got.stderr)
	got = h.run("replay", testdata("codex", "poll-0.104.jsonl"), "--rates", file, "--variant", "mask:keep=0")
	require.Equal(t, 0, got.code, got.stderr)
	assert.Contains(t, got.stdout, "These logs")
}

// TestRealLogsUnderTenVariants needs the logs of FCLOG_DATA.
func TestRealLogsUnderTenVariants(t *testing.T) {
	t.Parallel()
	for _, agent := range []string{"claude", "codex", "freecode"} {
		h := newHome(t)
		got := h.run("replay", devdata.Dir(t, agent), "--width", "80", "--diff", "--details")
		require.Equal(t, 0, got.code, got.stderr)
		termtest.CheckTerminal(t, got.stdout, 80, false)
	}
}

// bounds names the audit's technique that bounds a variant from above.
var bounds = map[string]string{
	"compress": "output-compression", "no-line-numbers": "line-number-prefixes", "inline-batching": "inline-batching",
	"batch-reads": "serial-chains", "dedup-reads": "repeats-and-re-reads",
}

// TestReplayAgreesWithTheAudit compares two ways to the recorded totals, and holds
// what a replay saves against what the audit counts with SQL as addressable.
func TestReplayAgreesWithTheAudit(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{testdata("codex")}, {testdata("claude-code")}, {testdata("freecode")}, {"--demo"}} {
		t.Run(filepath.Base(args[0]), func(t *testing.T) {
			t.Parallel()
			agrees(t, args...)
		})
	}
}

// TestReplayAgreesWithTheAuditOnRealLogs does so for every log of FCLOG_DATA by
// itself, and for those of each agent together.
func TestReplayAgreesWithTheAuditOnRealLogs(t *testing.T) {
	t.Parallel()
	for _, agent := range []string{"claude", "codex", "freecode"} {
		dir := devdata.Dir(t, agent)
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		t.Run(agent, func(t *testing.T) { agrees(t, dir) })
		for _, e := range entries {
			t.Run(agent+"/"+e.Name(), func(t *testing.T) {
				t.Parallel()
				agrees(t, filepath.Join(dir, e.Name()))
			})
		}
	}
}

func agrees(t *testing.T, args ...string) {
	t.Helper()
	h := newHome(t)
	got := h.run(append([]string{"audit", "--format", "json"}, args...)...)
	if got.code == 3 {
		t.Skip("no log")
	}
	require.Equal(t, 0, got.code, got.stderr)
	var audit struct {
		Totals  map[string]any
		Savings []struct {
			Technique string
			Carried   int64 `json:"addressable_carried_tokens"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &audit))
	got = h.run(append([]string{"replay", "--format", "json"}, args...)...)
	require.Equal(t, 0, got.code, got.stderr)
	var out struct {
		Baseline map[string]any
		Variants []struct {
			Variant string
			High    *int64 `json:"static_saving_tokens_high"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &out))
	for _, key := range []string{"requests", "input_tokens", "output_tokens", "cache_read_tokens"} {
		assert.Equal(t, audit.Totals[key], out.Baseline[key], key)
	}
	if audit.Totals["cost_usd"] == nil {
		assert.Nil(t, out.Baseline["cost_usd"])
	} else {
		assert.InEpsilon(t, audit.Totals["cost_usd"], out.Baseline["cost_usd"], 1e-9)
	}
	addressable := map[string]int64{}
	for _, s := range audit.Savings {
		addressable[s.Technique] = s.Carried
	}
	seen := 0
	for _, v := range out.Variants {
		if technique, ok := bounds[v.Variant]; ok {
			seen++
			require.Contains(t, addressable, technique)
			if v.High != nil {
				assert.LessOrEqual(t, *v.High, addressable[technique], v.Variant)
			}
		}
	}
	assert.Len(t, bounds, seen, "every bounded variant is among the usual ones")
}

// TestInterruptedReplay stops a replay that waits for somebody's filter: at once,
// with nothing half-written and no process left.
func TestInterruptedReplay(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no interrupt signal for other processes")
	}
	h := newHome(t)
	begun, out, texts := filepath.Join(h.dir, "begun"), filepath.Join(h.dir, "out.md"), filepath.Join(h.dir, "texts")
	filter := filepath.Join(h.dir, "filter.sh")
	require.NoError(t, os.WriteFile(filter, []byte("#!/bin/sh\necho $$ >"+begun+"\nexec sleep 100\n"), 0o700))
	cmd := h.command(t.Context(), "replay", testdata("codex", "poll-0.104.jsonl"), "--variant", "exec:timeout=90s,cmd="+filter, "--emit", texts, "-o", out, "--format", "md")
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	require.NoError(t, cmd.Start())
	pid := ""
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(begun)
		pid = strings.TrimSpace(string(text))
		return err == nil && pid != ""
	}, 20*time.Second, 10*time.Millisecond, "the filter has begun")
	start := time.Now()
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	require.Error(t, cmd.Wait())
	assert.Less(t, time.Since(start), 10*time.Second)
	assert.Equal(t, 1, cmd.ProcessState.ExitCode())
	assert.Equal(t, "fclog: stopped; nothing was left half-written\n", errOut.String())
	assert.NoFileExists(t, out)
	assert.NoDirExists(t, texts)
	assert.Eventually(t, func() bool {
		state, _ := exec.Command("ps", "-o", "stat=", "-p", pid).Output()
		return len(state) == 0 || state[0] == 'Z'
	}, 5*time.Second, 20*time.Millisecond, "the filter is gone")
}

// What tries to make a replay lie gets a sensible answer: a rule that deletes every
// result and one that lengthens them all, on a session of one request, one without
// usage and one that was compacted twice.
func TestReplayCannotBeMadeToLie(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	own := filepath.Join(h.dir, "own.yaml")
	require.NoError(t, os.WriteFile(own, []byte(`variants:
  - {name: gone, steps: [{replace: {pattern: '(?s).+', with: ''}}]}
  - {name: longer, steps: [{replace: {pattern: '(?s)$', with: ' and once more, and once more'}}]}
`), 0o600))
	whole := testdata("codex", "poll-0.104.jsonl")
	text, err := os.ReadFile(whole)
	require.NoError(t, err)
	var lines, silent []string
	for line := range strings.Lines(string(text)) {
		lines = append(lines, line)
		if !strings.Contains(line, `"token_count"`) {
			silent = append(silent, line)
		}
	}
	write := func(name string, lines []string) string {
		path := filepath.Join(h.dir, name)
		require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600))
		return path
	}
	one, none := write("one.jsonl", lines[:14]), write("none.jsonl", silent)
	show := func(log string) string {
		var all strings.Builder
		for _, width := range []int{80, 160} {
			got := h.run("replay", log, "--variants", own, "-V", "gone", "-V", "longer", "-V", "dedup-reads", "--width", fmt.Sprint(width))
			require.Equal(t, 0, got.code, got.stderr)
			termtest.CheckTerminal(t, got.stdout, width, false)
			all.WriteString(got.stdout)
		}
		return strings.Join(strings.Fields(all.String()), " ")
	}

	// What only gets longer has lost nothing: no detours, and never free.
	r := h.replay(whole, "--variants", own)
	assert.Equal(t, []string{"gone", "longer"}, []string{r.Variants[0].Variant, r.Variants[1].Variant})
	assert.Positive(t, r.Variants[0].SavedCountedTokens)
	assert.Negative(t, *r.Variants[1].StaticSavingTokens)
	assert.NotContains(t, []string{"free by rule", "worth an A/B"}, r.Variants[1].Verdict)
	assert.Contains(t, r.Variants[1].Warnings, "sends more text than was recorded")
	assert.Equal(t, 2, strings.Count(show(whole), "Detours: "), "of gone alone, at both widths")

	// One request carries nothing on.
	r = h.replay(one, "--variants", own)
	assert.Empty(t, r.Variants[0].Verdict)
	assert.EqualValues(t, 0, *r.Variants[0].StaticSavingTokens)
	assert.Contains(t, show(one), "1 of 1 session holds a single request: nothing is carried on there")

	// Without usage nothing is claimed in the provider's tokens or in USD.
	r = h.replay(none, "--variants", own)
	for _, v := range r.Variants {
		assert.Nil(t, v.StaticSavingTokens)
		assert.Empty(t, v.Verdict)
	}
	out := show(none)
	assert.Contains(t, out, fmt.Sprintf("no usage in the log; %d more counted tokens", -r.Variants[1].SavedCountedTokens))
	assert.NotContains(t, out, "$")
	assert.Contains(t, out, "No request here has cache figures, and no cost is known.")
	assert.NotContains(t, out, "a re-read of unchanged content", "a variant that has nothing to do has no section")

	// Compactions stay where they were, and it is said.
	out = show(testdata("codex", "compaction-0.118.jsonl"))
	assert.Contains(t, out, "2 compactions stay where they were recorded")
}
