package fidelity

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fclog/fclog/rollout"
)

// log builds a session whose requests carry what was added before them.
type log struct {
	b     *rollout.Builder
	chain *rollout.Chain
}

func newLog(missing ...string) *log {
	b := rollout.NewBuilder("test")
	b.Session.ID, b.Session.Missing = "s", missing
	return &log{b, b.Chain()}
}

func (l *log) add(kind rollout.ItemKind, text string) *log {
	slot := rollout.SlotConversation
	if kind == rollout.SystemPrompt {
		slot = rollout.SlotSystem
	}
	it := l.b.Item(rollout.Item{Kind: kind, Origin: rollout.Logged, Request: -1, Text: l.b.Text(text)})
	l.chain.Add(slot, it)
	return l
}

func (l *log) request(r rollout.Request) *log {
	r.Kind, r.Run, r.Attempt, r.Base = rollout.KindTurn, 1, 1, -1
	if r.Status == "" {
		r.Status = rollout.Answered
	}
	l.chain.Request(r)
	return l
}

func (l *log) sessions() []*rollout.Session { return []*rollout.Session{l.b.Finish()} }

// user, assistant, reminder and result are parts as a capture tells of them, of
// one token a character.
func user(text string) Part      { return sentPart(rollout.UserText, rollout.RoleUser, text) }
func assistant(text string) Part { return sentPart(rollout.AssistantText, rollout.RoleAssistant, text) }
func reminder(text string) Part  { return sentPart(rollout.Reminder, rollout.RoleSystem, text) }
func system(text string) Part    { return sentPart(rollout.SystemPrompt, rollout.RoleSystem, text) }

func sentPart(kind rollout.ItemKind, role rollout.Role, text string) Part {
	return Part{Slot: Messages, Kind: kind, Role: role, Chars: int64(len(text)), Tokens: int64(len(text)), SHA256: hash(text), Text: &text}
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func held(texts ...string) Held {
	h := Held{}
	for _, text := range texts {
		h.text(text)
	}
	return h
}

func TestPartsOfARequest(t *testing.T) {
	base := func(missing ...string) *log {
		return newLog(missing...).add(rollout.UserText, "ask").add(rollout.AssistantText, "answer").add(rollout.UserText, "more")
	}
	for _, c := range []struct {
		name    string
		log     *log
		sent    []Part
		held    Held
		want    Pair // counts and tokens only
		changes string
	}{
		{"equal", base(), []Part{user("ask"), assistant("answer"), user("more")}, nil,
			Pair{Equal: 3, LoggedTokens: 13, MatchedTokens: 13}, ""},
		{"an unlogged part counts for nothing", base("reminders"), []Part{user("ask"), assistant("answer"), reminder("mind"), user("more")}, nil,
			Pair{Equal: 3, Excused: 1, LoggedTokens: 13, MatchedTokens: 13, UnloggedSent: 4}, ""},
		{"nothing excuses it", base(), []Part{user("ask"), assistant("answer"), reminder("mind"), user("more")}, nil,
			Pair{Equal: 3, Missing: 1, LoggedTokens: 17, MatchedTokens: 13}, "missing 3"},
		{"a phrase of another kind does not", base("reasoning text"), []Part{user("ask"), assistant("answer"), reminder("mind"), user("more")}, nil,
			Pair{Equal: 3, Missing: 1, LoggedTokens: 17, MatchedTokens: 13}, "missing 3"},
		{"the log holds it after all", base("reminders"), []Part{user("ask"), assistant("answer"), reminder("mind"), user("more")}, held("mind"),
			Pair{Equal: 3, Missing: 1, LoggedTokens: 17, MatchedTokens: 13}, "missing 3"},
		{"a wrong text is not excused", base("reminders"), []Part{user("ask"), assistant("answer"), user("most")}, nil,
			Pair{Equal: 2, Different: 1, LoggedTokens: 13, MatchedTokens: 9}, "different 3 from 2"},
		{"not sent", base(), []Part{user("ask"), user("more")}, nil,
			Pair{Equal: 2, Extra: 1, ExtraTokens: 1, LoggedTokens: 7, MatchedTokens: 7}, "extra 2"},
		{"another place", base(), []Part{assistant("answer"), user("ask"), user("more")}, nil,
			Pair{Equal: 2, Moved: 1, LoggedTokens: 13, MatchedTokens: 10}, "moved 2"},
		{"the prompt as a message", newLog().add(rollout.SystemPrompt, "be good").add(rollout.UserText, "ask"), []Part{reminder("be bad"), user("ask")}, nil,
			Pair{Equal: 1, Different: 1, LoggedTokens: 9, MatchedTokens: 3}, "different 1 from 3"},
		{"the prompt is not logged", newLog("system prompt").add(rollout.UserText, "ask"), []Part{system("be bad"), user("ask")}, nil,
			Pair{Equal: 1, Excused: 1, LoggedTokens: 3, MatchedTokens: 3, UnloggedSent: 6}, ""},
		{"the same text twice matches twice", newLog().add(rollout.UserText, "go").add(rollout.UserText, "go"), []Part{user("go"), user("go"), user("go")}, nil,
			Pair{Equal: 2, Missing: 1, LoggedTokens: 6, MatchedTokens: 4}, "missing 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			input := int64(100)
			usage := rollout.Usage{Input: &input}
			r := Comparison{Held: c.held}.Compare(c.log.request(rollout.Request{Model: "m", Usage: usage}).sessions(), []Request{{Model: "m", Usage: usage, Parts: c.sent}})
			require.Len(t, r.Pairs(), 1)
			got := r.Pairs()[0]
			var changes []string
			for _, d := range got.Differences {
				change := string(d.Change) + " " + string(rune('0'+d.Position))
				if d.At != nil {
					change += " from " + string(rune('0'+*d.At))
				}
				changes = append(changes, change)
			}
			assert.Equal(t, c.changes, strings.Join(changes, ", "))
			assert.Equal(t, c.want, Pair{Equal: got.Equal, Missing: got.Missing, Extra: got.Extra, Different: got.Different, Moved: got.Moved, Excused: got.Excused,
				LoggedTokens: got.LoggedTokens, MatchedTokens: got.MatchedTokens, ExtraTokens: got.ExtraTokens, UnloggedSent: got.UnloggedSent})
			assert.Equal(t, got.Moved == 0, got.OrderKept())
		})
	}
}

func usageOf(input, output int64) rollout.Usage { return rollout.Usage{Input: &input, Output: &output} }

func TestPairing(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(1_800_000_000+s), 0).UTC() }
	tools := sentPart(rollout.ToolDefinitions, "", "{}")
	l := newLog().add(rollout.UserText, "a").
		request(rollout.Request{ID: "r1", Model: "m", Line: 5, Time: at(1)}).
		request(rollout.Request{Model: "m", Status: rollout.Errored, Line: 6, Time: at(2)}).
		request(rollout.Request{Model: "m", Usage: usageOf(10, 1), Line: 7, Time: at(3)}).
		request(rollout.Request{Model: "m", Usage: usageOf(10, 1), Line: 8, Time: at(40)}).
		request(rollout.Request{Model: "m", Usage: usageOf(99, 1), Line: 9, Time: at(50)}).
		request(rollout.Request{Model: "m", Usage: usageOf(12, 1), Line: 10, Time: at(60)}).
		request(rollout.Request{ID: "r1", Model: "m", Line: 11, Time: at(70)}).
		request(rollout.Request{Model: "other", Line: 12, Time: at(80)})
	sent := []Request{
		{Time: at(0), Thread: "main", Model: "m", ID: "r1", Parts: []Part{tools}},
		{Time: at(2), Thread: "main", Model: "m", Failed: true, Status: 500, Parts: []Part{tools}},
		{Time: at(3), Thread: "main", Model: "m", Usage: usageOf(10, 1), Parts: []Part{tools}},
		{Time: at(4), Thread: "main", Model: "m", Usage: usageOf(3, 1), Parts: []Part{user("a title")}},
		{Time: at(41), Thread: "main", Model: "m", Usage: usageOf(10, 1), Parts: []Part{tools}},
		{Time: at(50), Thread: "main", Model: "m", Usage: usageOf(11, 1), Parts: []Part{tools}},
		{Time: at(58), Thread: "main", Model: "m", Usage: usageOf(12, 9), Parts: []Part{tools, user("x")}},
		{Time: at(60), Thread: "main", Model: "m", Usage: usageOf(12, 1), Parts: []Part{tools, user("x")}},
		{Time: at(61), Thread: "main", Model: "m", Parts: []Part{tools}},
		{Time: at(62), Thread: "main", Model: "m", Failed: true, Parts: []Part{tools}},
		{Time: at(63), Thread: "main", Model: "m", Usage: usageOf(77, 1), Parts: []Part{tools}},
	}
	for i := range sent {
		sent[i].Index = i
	}
	r := Compare(l.sessions(), sent)
	type pair struct {
		line, sent int
		by         How
	}
	var got []pair
	for _, p := range r.Pairs() {
		got = append(got, pair{p.Line, p.Sent, p.By})
	}
	// Line 9 has another usage than what was sent in its place: still the same
	// request, and told.
	assert.Equal(t, []pair{{5, 0, ByID}, {6, 1, ByOrder}, {7, 2, ByUsage}, {8, 4, ByUsage}, {9, 5, ByOrder}, {10, 7, ByUsage}}, got)
	assert.False(t, *r.Pairs()[4].Usage)
	why := map[int]Why{}
	for _, lone := range r.Unlogged {
		why[lone.Index] = lone.Why
	}
	assert.Equal(t, map[int]Why{3: Helper, 6: Repeated, 8: NoUsage, 9: FailedAttempt, 10: Unpaired}, why)
	require.Len(t, r.Unsent, 1)
	assert.Equal(t, 12, r.Unsent[0].Line)
	assert.Equal(t, 1, r.Copies, "line 11 repeats the response of line 5")
	s := SumOf(r.Pairs())
	assert.Equal(t, []int{6, 3, 1}, []int{s.Requests, s.Usage, s.UsageOff})
}

func TestThreadsKeepSessionsApart(t *testing.T) {
	one, two := newLog().request(rollout.Request{Usage: usageOf(5, 1)}).sessions()[0], newLog().request(rollout.Request{Usage: usageOf(5, 1)}).sessions()[0]
	one.ID, two.ID = "one", "two"
	r := Compare([]*rollout.Session{one, two}, []Request{{Thread: "two", Usage: usageOf(5, 1)}, {Index: 1, Thread: "one", Usage: usageOf(5, 1)}})
	require.Len(t, r.Sessions, 2)
	assert.Equal(t, 1, r.Sessions[0].Pairs[0].Sent)
	assert.Equal(t, 0, r.Sessions[1].Pairs[0].Sent)
}

// The alignment is at least as good as any other common subsequence.
func TestAlignIsTheHeaviest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		side := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "bb", "ccc", "dddd"}), 0, 9)
		rebuilt, sent := partsOf(side.Draw(t, "rebuilt")), partsOf(side.Draw(t, "sent"))
		got, last := int64(0), match{-1, -1}
		for _, m := range align(rebuilt, sent) {
			require.Equal(t, rebuilt[m.rebuilt].SHA256, sent[m.sent].SHA256)
			require.True(t, m.rebuilt > last.rebuilt && m.sent > last.sent, "in order")
			got, last = got+sent[m.sent].Tokens+1, m
		}
		require.Equal(t, best(rebuilt, sent), got)
	})
}

func partsOf(texts []string) []Part {
	var out []Part
	for _, s := range texts {
		out = append(out, user(s))
	}
	return out
}

// best is the weight of the heaviest common subsequence, by the textbook's table.
func best(x, y []Part) int64 {
	table := make([][]int64, len(x)+1)
	for i := range table {
		table[i] = make([]int64, len(y)+1)
	}
	for i := range x {
		for j := range y {
			table[i+1][j+1] = max(table[i][j+1], table[i+1][j])
			if x[i].SHA256 == y[j].SHA256 {
				table[i+1][j+1] = max(table[i+1][j+1], table[i][j]+y[j].Tokens+1)
			}
		}
	}
	return table[len(x)][len(y)]
}

func TestHeld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(`{"text":"line\none","n":1,"args":"{\"b\": 1, \"a\": \"deep\"}","list":[{"x": "in"}]}`+"\n"+`{"tool":{"name": "t", "p": {}}}`+"\n"), 0o600))
	h := Held{}
	require.NoError(t, h.AddLog(path, filepath.Join(t.TempDir(), "gone")))
	for _, text := range []string{"line\none", `{"b": 1, "a": "deep"}`, `{"b":1,"a":"deep"}`, "deep", "in", `{"name":"t","p":{}}`} {
		assert.True(t, h.Has(hash(text)), text)
	}
	for _, text := range []string{"line", "text", "1"} {
		assert.False(t, h.Has(hash(text)), text)
	}
	assert.False(t, h.Has("no hash"))
	assert.False(t, Held(nil).Has(hash("in")))
}

func TestReadWire(t *testing.T) {
	path := filepath.Join(t.TempDir(), "wire-summary.jsonl")
	sum := strings.Repeat("ab", 32)
	require.NoError(t, os.WriteFile(path, []byte(`{"index":0,"timestamp":1796062711260,"agent":"main","session":"s1","eventLine":7,"error":{"status":429},"usage":null,"parts":[{"where":"tool_def","tool":"bash","chars":9,"tokens":2,"sha256":"`+sum+`"},{"where":"system","chars":5,"tokens":1,"sha256":"`+sum+`"},{"where":"message","role":"user","kind":"tool_result","tool":"bash","callId":"c1","chars":3,"tokens":1,"sha256":"`+sum+`"}]}
{"i":1,"ts":"2026-11-30T18:13:56.879Z","path":"/v1beta/models/gem-2:streamGenerateContent","thread":"t1","status":200,"usage":{"promptTokenCount":50,"candidatesTokenCount":4,"thoughtsTokenCount":3},"parts":[{"slot":"input","kind":"message/input_text","role":"developer","chars":3,"tokens":1,"sha256":"`+sum+`"},{"slot":"input","kind":"reasoning/encrypted","role":"assistant","chars":3,"tokens":1,"sha256":"`+sum+`"},{"slot":"input","kind":"function_call","role":"assistant","name":"shell","call_id":"c2","chars":3,"tokens":1,"sha256":"`+sum+`"}]}
{"i":2,"ts":"2026-11-30T18:13:57Z","thread":"t1","status":200,"model":"m","usage":{"input_tokens":1,"cache_read_input_tokens":2,"cache_creation_input_tokens":4,"output_tokens":8},"parts":[{"slot":"messages","kind":"text","role":"model","chars":3,"tokens":1,"sha256":"`+sum+`"}]}
`), 0o600))
	sent, err := ReadSent([]string{path}, nil, nil)
	require.NoError(t, err)
	require.Len(t, sent, 3)
	free, gem, claude := sent[0], sent[1], sent[2]
	assert.Equal(t, []any{"s1", 7, 429, true, time.UnixMilli(1796062711260)}, []any{free.Thread, free.LogLine, free.Status, free.Failed, free.Time})
	assert.Nil(t, free.Usage.Input)
	assert.Equal(t, []any{Tools, System, Messages, rollout.ToolResult, "bash", "c1"}, []any{free.Parts[0].Slot, free.Parts[1].Slot, free.Parts[2].Slot, free.Parts[2].Kind, free.Parts[2].Name, free.Parts[2].CallID})
	assert.Equal(t, []any{"gem-2", int64(50), int64(7)}, []any{gem.Model, *gem.Usage.Input, *gem.Usage.Output})
	assert.Equal(t, []rollout.ItemKind{rollout.Reminder, rollout.Reasoning, rollout.ToolCall}, []rollout.ItemKind{gem.Parts[0].Kind, gem.Parts[1].Kind, gem.Parts[2].Kind})
	assert.True(t, gem.Parts[1].Opaque)
	assert.Equal(t, []int64{7, 2, 4, 8}, []int64{*claude.Usage.Input, *claude.Usage.CacheRead, *claude.Usage.CacheWrite, *claude.Usage.Output}, "input is inclusive: 1 + 2 + 4")
	assert.Equal(t, rollout.AssistantText, claude.Parts[0].Kind)
}
