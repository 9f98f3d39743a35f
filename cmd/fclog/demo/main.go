// Command demo writes the session that fclog brings along, to its own folder.
// Everything in it is invented.
package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/internal/tokens"
)

const (
	path       = "cmd/fclog/demo/session.jsonl"
	model      = "gpt-5.3-codex"
	unlogged   = 7_200 // system prompt and tool definitions
	perMessage = 4
	cwd        = "/home/ada/birdlog"
)

func main() {
	if err := os.WriteFile(path, []byte(session()), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// session is the whole log. The random numbers are the same every time.
func session() string {
	d := &demo{
		now:   time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC),
		rand:  rand.New(rand.NewPCG(3, 14)),
		count: tokens.New(),
	}
	d.play()
	return d.out.String()
}

// demo is a session under way.
type demo struct {
	out   strings.Builder
	now   time.Time
	rand  *rand.Rand
	count *tokens.Tokens
	input int64 // tokens of the conversation so far, as the next request sends them
	sent  int64 // input of the request before
	cold  bool  // nothing of the prefix is cached
	total usage
	calls int
	turn  int
}

type usage struct {
	Input     int64 `json:"input_tokens"`
	Cached    int64 `json:"cached_input_tokens"`
	Output    int64 `json:"output_tokens"`
	Reasoning int64 `json:"reasoning_output_tokens"`
	Total     int64 `json:"total_tokens"`
}

type object = map[string]any

// record writes one line of the log.
func (d *demo) record(kind string, payload any) {
	line, err := json.Marshal(object{
		"timestamp": d.now.Format("2006-01-02T15:04:05.000Z"), "type": kind, "payload": payload,
	}, json.Deterministic(true), jsontext.EscapeForHTML(false))
	if err != nil {
		panic(err) // only for a value this file should not have built
	}
	d.out.Write(line)
	d.out.WriteByte('\n')
}

func (d *demo) item(payload object) { d.record("response_item", payload) }

// add counts text that all later requests send.
func (d *demo) add(text string) int64 {
	n := d.count.Count("o200k_base", text)
	d.input += n + perMessage
	return n
}

func (d *demo) wait(seconds int) {
	d.now = d.now.Add(time.Duration(seconds)*time.Second + time.Duration(d.rand.IntN(900))*time.Millisecond)
}

// prompt starts a run.
func (d *demo) prompt(text string) {
	d.turn++
	d.record("event_msg", object{"type": "task_started", "turn_id": fmt.Sprintf("turn-%d", d.turn), "model_context_window": 258400})
	d.record("turn_context", object{
		"turn_id": fmt.Sprintf("turn-%d", d.turn), "cwd": cwd, "approval_policy": "on-request",
		"sandbox_policy": object{"type": "workspace-write"}, "model": model, "effort": "medium", "summary": "auto",
	})
	d.message("user", text)
	d.record("event_msg", object{"type": "user_message", "message": text, "images": []any{}})
}

func (d *demo) message(role, text string) {
	kind := "input_text"
	if role == "assistant" {
		kind = "output_text"
	}
	d.add(text)
	d.item(object{"type": "message", "role": role, "content": []any{object{"type": kind, "text": text}}})
}

// call is one tool call with what it brings back.
type call struct {
	tool, args, output string
	seconds            int
}

// step is one request: what the model said and called, and the results.
func (d *demo) step(say string, calls ...call) {
	u := usage{Input: d.input}
	if !d.cold {
		u.Cached = d.sent / 128 * 128
	}
	d.sent, d.cold = d.input, false
	d.wait(3 + d.rand.IntN(9))

	u.Reasoning = int64(64 * (1 + d.rand.IntN(5)))
	d.item(object{"type": "reasoning", "summary": []any{}, "content": nil, "encrypted_content": d.noise(int(u.Reasoning) * 5)})
	u.Output = u.Reasoning
	d.input += u.Reasoning
	if say != "" {
		before := d.input
		d.message("assistant", say)
		u.Output += d.input - before
		d.record("event_msg", object{"type": "agent_message", "message": say})
	}
	ids := make([]string, len(calls))
	for i, c := range calls {
		d.calls++
		ids[i] = fmt.Sprintf("call_demo%03d", d.calls)
		u.Output += d.add(c.args) + perMessage
		d.item(object{"type": "function_call", "name": c.tool, "arguments": c.args, "call_id": ids[i]})
	}
	d.usage(u)
	for i, c := range calls {
		d.wait(c.seconds)
		d.add(c.output)
		d.item(object{"type": "function_call_output", "call_id": ids[i], "output": c.output})
	}
}

func (d *demo) usage(u usage) {
	u.Total = u.Input + u.Output
	d.total.Input += u.Input
	d.total.Cached += u.Cached
	d.total.Output += u.Output
	d.total.Reasoning += u.Reasoning
	d.total.Total += u.Total
	d.record("event_msg", object{"type": "token_count", "info": object{
		"total_token_usage": d.total, "last_token_usage": u, "model_context_window": 258400,
	}, "rate_limits": nil})
}

// done ends a run with the model's last words.
func (d *demo) done(say string) {
	d.step(say)
	d.record("event_msg", object{"type": "task_complete", "turn_id": fmt.Sprintf("turn-%d", d.turn), "last_agent_message": say})
}

// noise stands for encrypted reasoning.
func (d *demo) noise(n int) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	var b strings.Builder
	b.WriteString("gAAAAAB")
	for range n {
		b.WriteByte(letters[d.rand.IntN(len(letters))])
	}
	return b.String()
}

func exec(command, output string) call {
	return call{"exec_command", quoteArgs("cmd", command, "workdir", cwd), shell(0.2, "Process exited with code 0", output), 1}
}

func failing(command, output string) call {
	return call{"exec_command", quoteArgs("cmd", command, "workdir", cwd), shell(2.4, "Process exited with code 1", output), 3}
}

// shell is the text around the output of a command.
func shell(seconds float64, state, output string) string {
	return fmt.Sprintf("Chunk ID: %06x\nWall time: %.4f seconds\n%s\nOriginal token count: %d\nOutput:\n%s",
		len(output)*7919%0xffffff, seconds, state, len(output)/4, output)
}

func quoteArgs(pairs ...string) string {
	var parts []string
	for i := 0; i < len(pairs); i += 2 {
		parts = append(parts, fmt.Sprintf("%q:%s", pairs[i], jsonString(pairs[i+1])))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func jsonString(s string) string {
	out, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		panic(err) // only for text that is not UTF-8
	}
	return string(out)
}
