package codex

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fclog/fclog/rollout"
)

func TestParseOutput(t *testing.T) {
	yes, no := true, false
	ms := func(n int64) *int64 { return &n }
	for name, c := range map[string]struct {
		texts []string
		want  outcome
	}{
		"A": {
			[]string{`{"output":"ok\n","metadata":{"exit_code":0,"duration_seconds":0.3}}`},
			outcome{body: "ok\n", failed: &no, exited: true, durationMS: ms(300)},
		},
		"B": {
			[]string{"Exit code: 2\nWall time: 1.5 seconds\nTotal output lines: 812\nOutput:\na\n…9 tokens truncated…b\n"},
			outcome{body: "a\n…9 tokens truncated…b\n", failed: &yes, exited: true, durationMS: ms(1500), truncated: true},
		},
		"C exited": {
			[]string{"Command: /bin/bash -lc ls\nChunk ID: d9\nWall time: 0.0200 seconds\nProcess exited with code 0\nOriginal token count: 1\nOutput:\na\n"},
			outcome{body: "a\n", failed: &no, exited: true, durationMS: ms(20), original: ms(1)},
		},
		"C running": {
			[]string{"Wall time: 10.0012 seconds\nProcess running with session ID 23245\nOutput:\n"},
			outcome{durationMS: ms(10001), session: "23245"},
		},
		"C complete output that shows a mark": {
			[]string{"Wall time: 0.1 seconds\nProcess exited with code 0\nOriginal token count: 6\nOutput:\nx…3 tokens truncated…y\n"},
			outcome{body: "x…3 tokens truncated…y\n", failed: &no, exited: true, durationMS: ms(100), original: ms(6)},
		},
		"D": {
			[]string{"Script completed\nWall time 6.3 seconds\nOutput:\n", "hello"},
			outcome{body: "hello", failed: &no, exited: true, durationMS: ms(6300), header: true},
		},
		"D failed": {
			[]string{"Script failed\nWall time 0.0 seconds\nOutput:\n", "boom"},
			outcome{body: "boom", failed: &yes, exited: true, durationMS: ms(0), header: true},
		},
		"D with a printed result": {
			[]string{"Script completed\nWall time 0.2 seconds\nOutput:\n", `{"exit_code":1,"output":"no match"}`},
			outcome{body: "no match", failed: &yes, exited: true, durationMS: ms(200), header: true},
		},
		"D with a process left running": {
			[]string{"Script completed\nWall time 1.0 seconds\nOutput:\n", `{"session_id":97385,"output":"round 0\n"}`},
			outcome{body: "round 0\n", durationMS: ms(1000), header: true, session: "97385"},
		},
		"interrupted":        {[]string{"Wall time: 3.1 seconds\naborted by user"}, outcome{body: "aborted by user", failed: &yes, durationMS: ms(3100)}},
		"plan":               {[]string{"Plan updated"}, outcome{body: "Plan updated", failed: &no}},
		"refused":            {[]string{"exec_command failed: Rejected(\"rejected by user\")"}, outcome{body: "exec_command failed: Rejected(\"rejected by user\")", failed: &yes, denied: true}},
		"says nothing":       {[]string{"{\"answers\":{}}"}, outcome{body: "{\"answers\":{}}"}},
		"empty":              {nil, outcome{}},
		"header without end": {[]string{"Wall time: 1 seconds"}, outcome{durationMS: ms(1000)}},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.want, parseOutput(c.texts)) })
	}
}

func TestTruncationMarks(t *testing.T) {
	for _, mark := range []string{
		"[... omitted 123 of 379 lines ...]", "[... output truncated to fit 10240 bytes ...]", "…5 tokens truncated…", "…5 chars truncated…",
		"... 77 bytes omitted ...", "[omitted 2 text items ...]",
	} {
		assert.True(t, isTruncated("head\n"+mark+"\ntail", nil), mark)
	}
	assert.True(t, isTruncated("Total output lines: 900\n\nhead", nil))
	assert.False(t, isTruncated("he wrote: Total output lines: 900\n\n", nil))
	assert.False(t, isTruncated("all of it", nil))
}

func TestPlainForm(t *testing.T) {
	s, ok := parseShellJSON(`{"output":"Total output lines: 934\n\na \"b\"\n","metadata":{"exit_code":1,"duration_seconds":0.0}}`)
	assert.True(t, ok)
	assert.Equal(t, "Exit code: 1\nWall time: 0 seconds\nTotal output lines: 934\nOutput:\na \"b\"\n", s.plainForm())
	_, ok = parseShellJSON(`{"output":"an object a tool printed"}`)
	assert.False(t, ok)
}

func TestCutMiddle(t *testing.T) {
	// 100 bytes into a budget of 40: 20 at each end, 60 gone = 15 tokens.
	text := strings.Repeat("a", 50) + strings.Repeat("b", 50)
	cut, did := cutMiddle(text, 40)
	assert.True(t, did)
	assert.Equal(t, strings.Repeat("a", 20)+"…15 tokens truncated…"+strings.Repeat("b", 20), cut)
	// Never inside a character: each is three bytes, six fit into ten.
	cut, _ = cutMiddle(strings.Repeat("あ", 20), 20)
	assert.Equal(t, "あああ…11 tokens truncated…あああ", cut)
	_, did = cutMiddle("short", 40)
	assert.False(t, did)
	_, did = cutMiddle(cut+text, 40)
	assert.False(t, did, "cut before")
}

func TestMCPOutputIsCutWhenItEntersTheHistory(t *testing.T) {
	// The policy of 100 bytes lets 120 in: 60 at each end of 400, 280 gone = 70 tokens.
	l := start().add("turn_context", `{"model":"gpt-5.3","truncation_policy":{"mode":"bytes","limit":100}}`)
	l.add("response_item", `{"type":"function_call","name":"mcp__db__query","arguments":"{}","call_id":"c1"}`).usage(100, 5, 100, 5)
	l.output("c1", strings.Repeat("x", 400)).call("c2", "cat big").usage(250, 10, 150, 5).output("c2", strings.Repeat("y", 400)).message("assistant", "Done.").usage(450, 15, 200, 5)
	s := l.read(t)
	got := texts(s, 2)
	assert.Equal(t, strings.Repeat("x", 60)+"…70 tokens truncated…"+strings.Repeat("x", 60), got[2])
	assert.Equal(t, strings.Repeat("y", 400), got[4], "shells cut their own output before it is logged")
	assert.Equal(t, rollout.Lost, s.Calls[0].Truncated)
	assert.Equal(t, rollout.NotTruncated, s.Calls[1].Truncated)
}

func TestOldLimitCutsTheJSONForm(t *testing.T) {
	l := (&log{}).add("session_meta", `{"id":"t","timestamp":"2026-03-01T10:00:00.000Z","cli_version":"0.57.0"}`).message("user", "go")
	l.add("response_item", `{"type":"function_call","name":"shell","arguments":"{\"command\":[\"ls\"]}","call_id":"c1"}`)
	form := `{"output":"` + strings.Repeat("a", 11000) + `","metadata":{"exit_code":0,"duration_seconds":0.1}}`
	l.output("c1", form).message("assistant", "Done.")
	s := l.read(t)
	assert.Equal(t, form[:5120]+"\n[... output truncated to fit 10240 bytes ...]\n\n", texts(s, 1)[2])
	assert.False(t, *s.Calls[0].Failed)
}
