package homes

import (
	"fmt"
	"time"
)

// codex writes a session of Codex CLI: response items, and events that tell the
// screen the same once more.
type codex struct {
	*session
	id                             string
	instructions                   string
	sumInput, sumCached, sumOutput int64
}

func writeCodex(s *session) error {
	c := &codex{session: s, id: s.uuid()}
	c.instructions = c.text.prose(9000)
	day := s.now.Format("2006/01/02")
	return s.create(c.fill, "sessions", day, "rollout-"+s.now.Format("2006-01-02T15-04-05")+"-"+c.id+".jsonl")
}

func (c *codex) line(kind, payload string, args ...any) error {
	return c.record(`{"timestamp":"%s","type":"%s","payload":{%s}}`, stamp(c.tick(300*time.Millisecond)), kind, fmt.Sprintf(payload, args...))
}

func (c *codex) fill() error {
	err := c.line("session_meta", `"id":"%s","timestamp":"%s","cwd":"/home/dev/src/%s","originator":"codex_cli_rs","cli_version":"0.118.0","source":"cli","model_provider":"openai","base_instructions":{"text":%s}`,
		c.id, stamp(c.now), c.text.project.name, quote(c.instructions))
	for turn := 0; err == nil && (turn == 0 || !c.full()); turn++ {
		err = c.turn(turn)
	}
	return err
}

func (c *codex) turn(number int) error {
	c.tick(20 * time.Minute)
	id := c.uuid()
	text := c.text.prose(c.text.length(500))
	c.add(text)
	type entry struct{ kind, payload string }
	entries := []entry{
		{"event_msg", fmt.Sprintf(`"type":"task_started","turn_id":"%s","model_context_window":258400`, id)},
		{"turn_context", fmt.Sprintf(`"turn_id":"%s","cwd":"/home/dev/src/%s","approval_policy":"never","sandbox_policy":{"type":"danger-full-access"},"model":"gpt-5.3-codex","effort":"high","summary":"auto","user_instructions":%s`, id, c.text.project.name, quote(c.instructions[:3000]))},
		{"response_item", fmt.Sprintf(`"type":"message","role":"user","content":[{"type":"input_text","text":%s}]`, quote(text))},
		{"event_msg", fmt.Sprintf(`"type":"user_message","message":%s,"images":[]`, quote(text))},
	}
	for _, e := range entries {
		if err := c.line(e.kind, "%s", e.payload); err != nil {
			return err
		}
	}
	for range 4 + c.rng.IntN(25) {
		if c.full() {
			break
		}
		if err := c.step(); err != nil {
			return err
		}
	}
	return c.answer(id)
}

// answer is the last response of a turn.
func (c *codex) answer(turn string) error {
	if err := c.say(c.text.length(900), "final_answer"); err != nil {
		return err
	}
	if err := c.tokens(); err != nil {
		return err
	}
	return c.line("event_msg", `"type":"task_complete","turn_id":"%s","last_agent_message":null`, turn)
}

func (c *codex) say(bytes int, phase string) error {
	text := c.text.prose(bytes)
	c.add(text)
	if err := c.line("event_msg", `"type":"agent_message","message":%s,"phase":"%s"`, quote(text), phase); err != nil {
		return err
	}
	return c.line("response_item", `"type":"message","role":"assistant","content":[{"type":"output_text","text":%s}],"phase":"%s"`, quote(text), phase)
}

// step is one response with calls, and their results.
func (c *codex) step() error {
	if c.compacts() {
		if err := c.compaction(); err != nil {
			return err
		}
	}
	c.tick(20 * time.Second)
	thought := "**" + c.text.sentence() + "**"
	if err := c.line("event_msg", `"type":"agent_reasoning","text":%s`, quote(thought)); err != nil {
		return err
	}
	if err := c.line("response_item", `"type":"reasoning","summary":[{"type":"summary_text","text":%s}],"content":null,"encrypted_content":"%s"`, quote(thought), c.text.secret(c.text.length(1500))); err != nil {
		return err
	}
	if c.rng.IntN(4) == 0 {
		if err := c.say(c.text.length(250), "commentary"); err != nil {
			return err
		}
	}
	if c.rng.IntN(5) == 0 {
		return c.patch()
	}
	return c.shell()
}

func (c *codex) shell() error {
	id := c.session.id("call_")
	command, text := fmt.Sprintf("go test ./%s/... -run %s", c.text.word(), c.text.name()), c.text.output()
	if c.rng.IntN(2) == 0 {
		path, listing := c.text.listing(c.text.length(5000), "\t")
		command, text = "nl -ba "+path, listing
	}
	if err := c.line("response_item", `"type":"function_call","name":"exec_command","arguments":%s,"call_id":"%s"`,
		quote(fmt.Sprintf(`{"cmd":%s,"workdir":"/home/dev/src/%s","yield_time_ms":1000}`, quote(command), c.text.project.name)), id); err != nil {
		return err
	}
	if err := c.tokens(); err != nil {
		return err
	}
	out := fmt.Sprintf("Chunk ID: %06x\nWall time: 0.%04d seconds\nProcess exited with code 0\nOriginal token count: %d\nOutput:\n%s", c.rng.Uint32()>>8, c.rng.IntN(10000), len(text)/4, text)
	c.add(command + out)
	return c.line("response_item", `"type":"function_call_output","call_id":"%s","output":%s`, id, quote(out))
}

func (c *codex) patch() error {
	id := c.session.id("call_")
	path, diff := c.text.file().path, c.text.diff(c.text.length(1200))
	input := "*** Begin Patch\n*** Update File: " + path + "\n" + diff + "*** End Patch\n"
	if err := c.line("response_item", `"type":"custom_tool_call","status":"completed","call_id":"%s","name":"apply_patch","input":%s`, id, quote(input)); err != nil {
		return err
	}
	if err := c.tokens(); err != nil {
		return err
	}
	if err := c.line("event_msg", `"type":"patch_apply_end","call_id":"%s","stdout":"Success.","stderr":"","success":true,"changes":{"%s":{"type":"update","unified_diff":%s,"move_path":null}}`, id, path, quote(diff)); err != nil {
		return err
	}
	out := fmt.Sprintf(`{"output":"Success. Updated the following files:\nM %s\n","metadata":{"exit_code":0,"duration_seconds":0.1}}`, path)
	c.add(input + out)
	return c.line("response_item", `"type":"custom_tool_call_output","call_id":"%s","output":%s`, id, quote(out))
}

// tokens is the event with the usage of the response before it.
func (c *codex) tokens() error {
	input, read, write, output := c.usage()
	input += read + write
	reasoning := output / 3
	c.sumInput, c.sumCached, c.sumOutput = c.sumInput+input, c.sumCached+read, c.sumOutput+output
	return c.line("event_msg", `"type":"token_count","info":{"total_token_usage":{"input_tokens":%d,"cached_input_tokens":%d,"output_tokens":%d,"reasoning_output_tokens":%d,"total_tokens":%d},"last_token_usage":{"input_tokens":%d,"cached_input_tokens":%d,"output_tokens":%d,"reasoning_output_tokens":%d,"total_tokens":%d},"model_context_window":258400},"rate_limits":{"primary":{"used_percent":9.0,"window_minutes":300,"resets_at":1763091446}}`,
		c.sumInput, c.sumCached, c.sumOutput, c.sumOutput/3, c.sumInput+c.sumOutput, input, read, output, reasoning, input+output)
}

func (c *codex) compaction() error {
	summary := c.text.prose(6000)
	if err := c.line("compacted", `"message":%s,"replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":%s}]}]`, quote(summary), quote("Another model worked on this. Its summary:\n"+summary)); err != nil {
		return err
	}
	return c.line("event_msg", `"type":"context_compacted"`)
}
