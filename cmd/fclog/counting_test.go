package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// These are mistakes that tools for such logs have made, seen through the whole
// program, each with the right value by arithmetic. What one log tells by itself is
// tested beside the readers.

// asked and said are lines of a Claude Code log: what was typed, and a response of a
// message ID with its uncached input, cache reads and output.
func asked(session string, n int, text string) string {
	return fmt.Sprintf(`{"parentUuid":%s,"isSidechain":false,"sessionId":%q,"version":"2.1.44","uuid":"u%d","timestamp":"2026-03-01T10:%02d:00.000Z","type":"user","message":{"role":"user","content":%q}}`,
		before(n), session, n, n, text)
}

func said(session string, n int, message string, input, read, output int, content string) string {
	return fmt.Sprintf(`{"parentUuid":%s,"isSidechain":false,"sessionId":%q,"version":"2.1.44","uuid":"u%d","timestamp":"2026-03-01T10:%02d:00.000Z","type":"assistant","requestId":"req-%s",`+
		`"message":{"id":%q,"type":"message","role":"assistant","model":"claude-opus-4-6","content":[%s],"stop_reason":"end_turn","usage":{"input_tokens":%d,"cache_creation_input_tokens":0,"cache_read_input_tokens":%d,"output_tokens":%d}}}`,
		before(n), session, n, n, message, message, content, input, read, output)
}

func before(n int) string {
	if n == 0 {
		return "null"
	}
	return fmt.Sprintf(`"u%d"`, n-1)
}

func words(text string) string { return fmt.Sprintf(`{"type":"text","text":%q}`, text) }

func logOf(lines ...string) string { return strings.Join(lines, "\n") + "\n" }

// totals are those of an audit in JSON.
func (h home) totals(args ...string) map[string]any {
	h.t.Helper()
	got := h.run(append([]string{"audit", "--format", "json"}, args...)...)
	require.Equal(h.t, 0, got.code, got.stderr)
	var a struct{ Totals map[string]any }
	require.NoError(h.t, json.Unmarshal([]byte(got.stdout), &a))
	return a.Totals
}

// figures are a few of the totals, as whole numbers.
func figures(t *testing.T, totals map[string]any, keys ...string) (out []int64) {
	t.Helper()
	for _, key := range keys {
		require.IsType(t, 0.0, totals[key], key)
		out = append(out, int64(totals[key].(float64)))
	}
	return out
}

// TestResumedFilesCountOnce: a resumed session copies its rows under its own session
// ID, a backup copies the file, and neither is paid for again, whatever is read
// first. The session ID is no part of a response's.
func TestResumedFilesCountOnce(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	rows := func(session string) []string {
		return []string{asked(session, 0, "Begin"), said(session, 1, "m1", 100, 0, 5, words("One")), asked(session, 2, "Go on"), said(session, 3, "m2", 20, 100, 6, words("Two"))}
	}
	first, backup := filepath.Join(h.dir, "logs", "a.jsonl"), filepath.Join(h.dir, "logs", "backup", "a.jsonl")
	second := filepath.Join(h.dir, "logs", "b.jsonl")
	mustWrite(t, first, logOf(rows("a")...))
	mustWrite(t, backup, logOf(rows("a")...))
	mustWrite(t, second, logOf(append(rows("b"), asked("b", 4, "More"), said("b", 5, "m3", 30, 120, 7, words("Three")))...))
	keys := []string{"requests", "input_tokens", "uncached_input_tokens", "cache_read_tokens", "output_tokens"}
	want := []int64{3, 100 + 120 + 150, 100 + 20 + 30, 100 + 120, 5 + 6 + 7}
	assert.Equal(t, want, figures(t, h.totals(filepath.Join(h.dir, "logs")), keys...), "the folder")
	for name, order := range map[string][]string{"in order": {first, backup, second}, "the resumed first": {second, backup, first}} {
		ds := filepath.Join(h.dir, name)
		for _, path := range order {
			got := h.run("import", path, "-o", ds)
			require.Equal(t, 0, got.code, got.stderr)
		}
		assert.Equal(t, want, figures(t, h.totals(ds), keys...), name)
	}
}

// TestPromptsAreNotSums: the largest context is that of one request, not the sum of a
// turn's calls, and the four classes of tokens stay apart.
func TestPromptsAreNotSums(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	path := filepath.Join(h.dir, "a.jsonl")
	mustWrite(t, path, logOf(asked("a", 0, "Begin"), said("a", 1, "m1", 1000, 0, 5, words("One")), said("a", 2, "m2", 10, 1000, 5, words("Two")), said("a", 3, "m3", 20, 1010, 5, words("Three"))))
	got := h.totals(path)
	assert.Equal(t, []int64{1, 3, 1000 + 1010 + 1030, 1030, 15}, figures(t, got, "runs", "requests", "input_tokens", "peak_input_tokens", "output_tokens"))
}

// TestRenamedRecordsAreNoResult: where a new version of an agent renames what fclog
// reads, zeros are an error, and the report still says what was there.
func TestRenamedRecordsAreNoResult(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	lines := []string{asked("a", 0, "Begin")}
	for n := 1; n < 40; n++ {
		lines = append(lines, strings.Replace(said("a", n, fmt.Sprint("m", n), 100, 0, 5, words("Hm")), `"type":"assistant"`, `"type":"reply"`, 1))
	}
	path := filepath.Join(h.dir, "a.jsonl")
	mustWrite(t, path, logOf(lines...))
	for _, format := range []string{"term", "md", "json", "html"} {
		got := h.run("audit", path, "--format", format)
		assert.Equal(t, 3, got.code, format)
		assert.Contains(t, got.stdout, "no-requests", format)
		assert.Contains(t, got.stdout, "unknown-record", format)
		assert.Contains(t, got.stderr, "hold no request", format)
	}
	mustWrite(t, filepath.Join(h.dir, "b.jsonl"), logOf(asked("b", 0, "Begin"), said("b", 1, "m100", 100, 0, 5, words("One"))))
	got := h.run("audit", path, filepath.Join(h.dir, "b.jsonl"))
	assert.Equal(t, 0, got.code, "beside a log that is read")
	assert.Contains(t, got.stdout, "no-requests")
}

// TestSnapshotsAreMadeGood: of an output logged while the answer was coming, the report
// says what it lacks, and the sum stays what the log holds.
func TestSnapshotsAreMadeGood(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	path := filepath.Join(h.dir, "a.jsonl")
	answer := strings.Repeat("one two three four ", 100) // 400 words of one token each, and a blank at the end
	early := strings.Replace(said("a", 1, "m1", 100, 0, 1, words(answer)), `"end_turn"`, "null", 1)
	mustWrite(t, path, logOf(asked("a", 0, "Begin"), early, asked("a", 2, "Go on"), said("a", 3, "m2", 500, 0, 30, words("Two"))))
	got := h.totals(path)
	assert.Equal(t, []int64{31, 1}, figures(t, got, "output_tokens", "non_final_outputs"))
	assert.InDelta(t, 400-1, got["unreported_output_tokens"], 2)
	text := h.run("audit", path, "--width", "140")
	assert.Contains(t, text.stdout, "1 response logged an early snapshot (about 400 missing, estimated)")
}

// TestLostPromptIsUnlogged: what the log does not hold but the provider was sent is
// shown as such, and the recorded input stays.
func TestLostPromptIsUnlogged(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	prompt := strings.Repeat("one two three four ", 250) // 1,000 tokens
	lines := []string{asked("a", 0, "Begin"), said("a", 1, "m1", 2000, 0, 5, words("One")), asked("a", 2, prompt), said("a", 3, "m2", 3010, 0, 5, words("Two"))}
	whole, lost := filepath.Join(h.dir, "whole.jsonl"), filepath.Join(h.dir, "lost.jsonl")
	mustWrite(t, whole, logOf(lines...))
	mustWrite(t, lost, logOf(lines[0], lines[1], strings.Replace(lines[3], `"parentUuid":"u2"`, `"parentUuid":"u1"`, 1)))
	a, b := h.totals(whole), h.totals(lost)
	assert.Equal(t, a["input_tokens"], b["input_tokens"])
	for _, totals := range []map[string]any{a, b} {
		n := figures(t, totals, "input_tokens", "calibrated_tokens", "framing_tokens", "unlogged_tokens")
		assert.Equal(t, n[0], n[1]+n[2]+n[3])
	}
	gone := figures(t, b, "unlogged_tokens")[0] - figures(t, a, "unlogged_tokens")[0]
	assert.Greater(t, gone, int64(900), "the prompt's 1,000 tokens in the one request that carried it")
}

// TestLargeRecordsKeepTheirUsage: a message of 20 MB counts, its text comes back whole
// from Parquet, and arguments of any number of keys stay one text.
func TestLargeRecordsKeepTheirUsage(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	const size = 20 << 20
	args := map[string]int{}
	for i := range 60 {
		args[fmt.Sprintf("key%02d", i)] = i
	}
	raw, err := json.Marshal(args)
	require.NoError(t, err)
	path := filepath.Join(h.dir, "a.jsonl")
	mustWrite(t, path, logOf(asked("a", 0, "Begin"), said("a", 1, "m1", 100, 0, 5_000_000, words(strings.Repeat("word ", size/5))),
		asked("a", 2, "Go on"), said("a", 3, "m2", 5_000_200, 0, 9, `{"type":"tool_use","id":"c1","name":"Many","input":`+string(raw)+`}`)))
	ds := filepath.Join(h.dir, "ds")
	got := h.run("import", path, "-o", ds)
	require.Equal(t, 0, got.code, got.stderr)
	assert.Equal(t, []int64{2, 100 + 5_000_200, 5_000_009}, figures(t, h.totals(ds), "requests", "input_tokens", "output_tokens"))
	got = h.run("query", ds, "SELECT max(length(text)) AS longest, count(*) FILTER (text = '"+string(raw)+"') AS arguments FROM texts", "--format", "csv")
	require.Equal(t, 0, got.code, got.stderr)
	assert.Equal(t, fmt.Sprintf("longest,arguments\n%d,1\n", size/5*5), got.stdout)
	columns := h.run("query", ds, "DESCRIBE calls", "--format", "csv")
	require.Equal(t, 0, columns.code, columns.stderr)
	assert.NotContains(t, columns.stdout, "key0")
}

// TestArchivedBesideSessions: a rollout that lies in both of an agent's folders, one of
// them compressed or not, is one session.
func TestArchivedBesideSessions(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	log := read(t, testdata("codex", "poll-0.104.jsonl"))
	name := "rollout-2026-02-24T15-00-00-019c9000-0000-7000-8000-000000000001.jsonl"
	once := filepath.Join(h.dir, "once", name)
	mustWrite(t, once, log)
	for _, folder := range []string{"sessions/2026/02/24", "archived_sessions"} {
		mustWrite(t, filepath.Join(h.dir, ".codex", filepath.FromSlash(folder), name), log)
	}
	keys := []string{"sessions", "requests", "input_tokens", "output_tokens"}
	assert.Equal(t, figures(t, h.totals(once), keys...), figures(t, h.totals(filepath.Join(h.dir, ".codex")), keys...))
}

// TestForksKeepTheDay: what a fork replays under its own time stays with the parent, on
// the parent's day; its own requests are on the day it was made.
func TestForksKeepTheDay(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	const parent, child = "5973b6c0-94b8-487b-a530-2aeb6098ae0e", "6973b6c0-94b8-487b-a530-2aeb6098ae0e"
	rollout := func(day string, metas []string, turns ...string) string {
		var lines []string
		for _, meta := range metas {
			lines = append(lines, `{"timestamp":"`+day+`T10:00:00.000Z","type":"session_meta","payload":`+meta+`}`)
		}
		for _, turn := range turns {
			lines = append(lines, strings.ReplaceAll(turn, "DAY", day))
		}
		return logOf(lines...)
	}
	turn := func(id, clock string, input, output, total, all int) string {
		at := func(n int, kind, payload string) string {
			return fmt.Sprintf(`{"timestamp":"DAYT%s.%03dZ","type":%q,"payload":%s}`, clock, n, kind, payload)
		}
		return strings.Join([]string{
			at(1, "event_msg", `{"type":"task_started","turn_id":"`+id+`"}`),
			at(2, "turn_context", `{"turn_id":"`+id+`","model":"gpt-5.3-codex"}`),
			at(3, "response_item", `{"type":"message","role":"user","content":[{"type":"input_text","text":"Do `+id+`"}]}`),
			at(4, "response_item", `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done `+id+`"}]}`),
			at(5, "event_msg", fmt.Sprintf(`{"type":"token_count","info":{"total_token_usage":{"input_tokens":%d,"cached_input_tokens":0,"output_tokens":%d,"reasoning_output_tokens":0,"total_tokens":%d},"last_token_usage":{"input_tokens":%d,"cached_input_tokens":0,"output_tokens":%d,"reasoning_output_tokens":0,"total_tokens":%d}}}`,
				total, all, total+all, input, output, input+output)),
			at(6, "event_msg", `{"type":"task_complete","turn_id":"`+id+`"}`),
		}, "\n")
	}
	first := turn("t1", "10:00:01", 100, 10, 100, 10)
	mustWrite(t, filepath.Join(h.dir, "logs", "rollout-"+parent+".jsonl"), rollout("2026-03-01", []string{`{"id":"` + parent + `","cwd":"/","cli_version":"0.118.0"}`}, first))
	mustWrite(t, filepath.Join(h.dir, "logs", "rollout-"+child+".jsonl"), rollout("2026-03-05",
		[]string{`{"id":"` + child + `","forked_from_id":"` + parent + `","cwd":"/","cli_version":"0.118.0"}`, `{"id":"` + parent + `","cwd":"/","cli_version":"0.118.0"}`},
		first, turn("t2", "10:00:31", 180, 12, 280, 22)))
	got := h.run("query", filepath.Join(h.dir, "logs"), "SELECT strftime(to_timestamp(epoch_ms(time) / 1000) AT TIME ZONE 'UTC', '%Y-%m-%d') AS day, sum(input_tokens) AS input, sum(output_tokens) AS output FROM requests WHERE counts GROUP BY day ORDER BY day", "--format", "csv")
	require.Equal(t, 0, got.code, got.stderr)
	assert.Equal(t, "day,input,output\n2026-03-01,100,10\n2026-03-05,180,12\n", got.stdout)
}

// TestRepeatedImagesAreNotTheirBytes: a picture read 31 times weighs what its pixels
// cost 31 times, also as a possible saving.
func TestRepeatedImagesAreNotTheirBytes(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	picture := strings.Repeat("iVBORw0KGgoAAAANSUhEUgAA", 10_000) // 240 kB, some 100,000 tokens as text
	lines := []string{asked("a", 0, "Look")}
	const times = 31
	for i := range times {
		n := 1 + 2*i
		lines = append(lines, said("a", n, fmt.Sprint("m", n), 100, 0, 5, fmt.Sprintf(`{"type":"tool_use","id":"c%d","name":"Read","input":{"file_path":"/shot.png"}}`, n)))
		result := asked("a", n+1, "RESULT")
		lines = append(lines, strings.Replace(result, `"RESULT"`, fmt.Sprintf(`[{"type":"tool_result","tool_use_id":"c%d","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":%q}}]}]`, n, picture), 1))
	}
	lines = append(lines, said("a", 1+2*times, "last", 100, 0, 5, words("Seen")))
	for i := range lines {
		lines[i] = strings.Replace(lines[i], fmt.Sprintf("T10:%02d:00", i), fmt.Sprintf("T10:%02d:%02d", i/2, i%2*30), 1)
	}
	path := filepath.Join(h.dir, "a.jsonl")
	mustWrite(t, path, logOf(lines...))
	got := h.run("audit", path, "--format", "json")
	require.Equal(t, 0, got.code, got.stderr)
	var a struct {
		Composition []struct {
			Kind, Tool string
			Tokens     int64
		}
		Savings []struct {
			Technique string
			Once      *int64 `json:"addressable_tokens"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &a))
	const most = 5000 // tokens that a provider takes for one picture at most
	for _, c := range a.Composition {
		assert.Less(t, c.Tokens, int64(times*most), c.Kind)
	}
	for _, s := range a.Savings {
		if s.Once != nil && s.Technique != "recurring-block" {
			assert.Less(t, *s.Once, int64(times*most), s.Technique)
		}
	}
}

// TestSubAgentsAreSaidToBeIn: a session's own figures and those with its sub-agents
// stand side by side, and a sub-agent whose log is gone is named, not passed over.
func TestSubAgentsAreSaidToBeIn(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	spawn := func(id, agent string) string {
		return fmt.Sprintf(`{"type":"tool_use","id":%q,"name":"Task","input":{"subagent_type":"Explore","prompt":"Find %s"}}`, id, agent)
	}
	done := func(n int, id, agent string) string {
		line := strings.Replace(asked("main", n, "RESULT"), `"RESULT"`, fmt.Sprintf(`[{"type":"tool_result","tool_use_id":%q,"content":"Found"}]`, id), 1)
		return strings.TrimSuffix(line, "}") + fmt.Sprintf(`,"toolUseResult":{"status":"completed","agentId":%q}}`, agent)
	}
	log := filepath.Join(h.dir, "logs", "main.jsonl")
	mustWrite(t, log, logOf(asked("main", 0, "Begin"),
		said("main", 1, "m1", 100, 0, 5, spawn("c1", "x1")), done(2, "c1", "x1"),
		said("main", 3, "m2", 20, 100, 6, spawn("c2", "x2")), done(4, "c2", "x2"),
		said("main", 5, "m3", 30, 120, 7, words("Done"))))
	child := func(agent string, input int) string {
		path := filepath.Join(h.dir, "logs", "main", "subagents", "agent-"+agent+".jsonl")
		text := logOf(asked("main", 0, "Find "+agent), said("main", 1, "m-"+agent, input, 0, 9, words("Found")))
		mustWrite(t, path, strings.ReplaceAll(text, `"isSidechain":false`, `"isSidechain":true,"agentId":"`+agent+`"`))
		mustWrite(t, strings.TrimSuffix(path, ".jsonl")+".meta.json", fmt.Sprintf(`{"agentType":"Explore","toolUseId":"c%s"}`, agent[1:]))
		return path
	}
	child("x1", 3000)
	second := child("x2", 4000)
	const own = 100 + 120 + 150
	type sums struct {
		Input *int64 `json:"input_tokens"`
	}
	audited := func() (shares map[string][2]int64, all int64, leftOut int64) {
		got := h.run("audit", filepath.Join(h.dir, "logs"), "--format", "json")
		require.Equal(t, 0, got.code, got.stderr)
		var a struct {
			Totals   sums
			Sessions []struct {
				ID             string `json:"session_id"`
				Own, Inclusive sums
			}
			LeftOut struct {
				N int64 `json:"sub_agent_sessions"`
			} `json:"left_out"`
		}
		require.NoError(t, json.Unmarshal([]byte(got.stdout), &a))
		shares = map[string][2]int64{}
		for _, s := range a.Sessions {
			shares[s.ID] = [2]int64{*s.Own.Input, *s.Inclusive.Input}
		}
		return shares, *a.Totals.Input, a.LeftOut.N
	}
	shares, all, leftOut := audited()
	assert.Equal(t, map[string][2]int64{"main": {own, own + 7000}, "main/x1": {3000, 3000}, "main/x2": {4000, 4000}}, shares)
	assert.Equal(t, []int64{own + 7000, 0}, []int64{all, leftOut})
	text := h.run("audit", log, "--width", "120").stdout
	assert.Regexp(t, `main agent +3 +370 +5\.0 %`, text)
	assert.Regexp(t, `sub-agents +2 +7\.00K +95\.0 %`, text)

	require.NoError(t, os.Remove(second))
	shares, all, leftOut = audited()
	assert.Equal(t, map[string][2]int64{"main": {own, own + 3000}, "main/x1": {3000, 3000}}, shares)
	assert.Equal(t, []int64{own + 3000, 1}, []int64{all, leftOut})
	assert.Contains(t, h.run("audit", log, "--width", "120").stdout, "Left out: 1 sub-agent session")
}

// TestLoopsAreRepeats: a command that tells the agent nothing, so that it runs it
// again and again, is told as what it is, and what the loop left in later requests.
func TestLoopsAreRepeats(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	path := filepath.Join(h.dir, "a.jsonl")
	const times = 5
	for _, result := range []string{"", "ok"} {
		lines := []string{asked("a", 0, "Check it")}
		for i := range times {
			id := fmt.Sprint("c", i)
			lines = append(lines, said("a", 1+2*i, fmt.Sprint("m", i), 1000+10*i, 0, 5, fmt.Sprintf(`{"type":"tool_use","id":%q,"name":"Bash","input":{"command":"./check all"}}`, id)))
			lines = append(lines, strings.Replace(asked("a", 2+2*i, "RESULT"), `"RESULT"`, fmt.Sprintf(`[{"type":"tool_result","tool_use_id":%q,"content":%q}]`, id, result), 1))
		}
		mustWrite(t, path, logOf(append(lines, said("a", 1+2*times, "last", 1100, 0, 5, words("I give up")))...))
		got := h.run("audit", path, "--format", "json")
		require.Equal(t, 0, got.code, got.stderr)
		type repeated struct {
			Class          string
			Times, Repeats int64
			Strict         int64 `json:"strict_repeats"`
			Tokens         int64
			CarriedTokens  int64 `json:"carried_tokens"`
		}
		var a struct {
			Polling struct{ Polls int64 }
			Repeats []repeated `json:"repeated_calls"`
		}
		require.NoError(t, json.Unmarshal([]byte(got.stdout), &a))
		// "ok" is one token. The four results but the first are carried by 4, 3, 2 and 1 requests.
		size := int64(len(result) / 2)
		assert.Equal(t, []repeated{{"shell", times, times - 1, times - 1, 4 * size, (4 + 3 + 2 + 1) * size}}, a.Repeats, result)
		assert.Zero(t, a.Polling.Polls, "not background work")
	}
}

// hole writes a log whose middle line holds size NUL bytes that take no room on disk.
func hole(t *testing.T, path, head, tail string, size int64) {
	t.Helper()
	mustWrite(t, path, head+`{"type":"file-history-snapshot","messageId":"x","snapshot":{"a":"`)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	require.NoError(t, err)
	end, err := f.Seek(0, 2)
	require.NoError(t, err)
	_, err = f.WriteAt([]byte("\"}}\n"+tail), end+size)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}
