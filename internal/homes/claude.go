package homes

import (
	"fmt"
	"strings"
	"time"
)

// claude writes a session of Claude Code: records linked by parent, one record a
// content block, a copy of results for its screen, progress of what runs.
type claude struct {
	*session
	id     string
	parent string // uuid of the record before, as JSON
}

func writeClaude(s *session) error {
	c := &claude{session: s, id: s.uuid(), parent: "null"}
	folder := "-home-dev-src-" + s.text.project.name
	return s.create(c.fill, "projects", folder, c.id+".jsonl")
}

func (c *claude) fill() error {
	for !c.full() {
		if err := c.prompt(); err != nil {
			return err
		}
		for range 4 + c.rng.IntN(25) {
			if c.full() {
				break
			}
			if err := c.step(); err != nil {
				return err
			}
		}
	}
	return nil
}

// line writes a record with the fields that all have; rest begins with its type.
func (c *claude) line(rest string, args ...any) error {
	uuid := c.uuid()
	head := fmt.Sprintf(`{"parentUuid":%s,"isSidechain":false,"userType":"external","cwd":"/home/dev/src/%s","sessionId":"%s","version":"2.1.44","gitBranch":"main","uuid":"%s","timestamp":"%s",`,
		c.parent, c.text.project.name, c.id, uuid, stamp(c.tick(2*time.Second)))
	c.parent = `"` + uuid + `"`
	return c.record("%s%s", head, fmt.Sprintf(rest, args...)+"}")
}

func (c *claude) prompt() error {
	c.tick(20 * time.Minute)
	text := c.text.prose(c.text.length(400))
	c.add(text)
	if err := c.record(`{"type":"file-history-snapshot","messageId":"%s","snapshot":{"messageId":"%s","trackedFileBackups":{"%s":{"backupFileName":"%s@v2","version":2}},"timestamp":"%s"},"isSnapshotUpdate":false}`,
		c.uuid(), c.uuid(), c.text.file().path, c.id, stamp(c.now)); err != nil {
		return err
	}
	return c.line(`"type":"user","message":{"role":"user","content":%s}`, quote(text))
}

// step is one response and the results of its calls.
func (c *claude) step() error {
	if c.compacts() {
		if err := c.compaction(); err != nil {
			return err
		}
	}
	input, read, write, output := c.usage()
	head := fmt.Sprintf(`"requestId":"%s","type":"assistant","message":{"model":"claude-opus-4-6","id":"%s","type":"message","role":"assistant","stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":%d,"cache_creation_input_tokens":%d,"cache_read_input_tokens":%d,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":%d},"output_tokens":%d,"service_tier":"standard"},"content":[`,
		c.session.id("req_"), c.session.id("msg_"), input, write, read, write, output)
	c.tick(30 * time.Second)
	if c.rng.IntN(3) == 0 {
		thought := c.text.prose(c.text.length(500))
		c.add(thought)
		if err := c.line(`%s{"type":"thinking","thinking":%s,"signature":"%s"}]}`, head, quote(thought), c.text.secret(900)); err != nil {
			return err
		}
	}
	if c.rng.IntN(2) == 0 {
		text := c.text.prose(c.text.length(300))
		c.add(text)
		if err := c.line(`%s{"type":"text","text":%s}]}`, head, quote(text)); err != nil {
			return err
		}
	}
	for range 1 + c.rng.IntN(5)/4 {
		if err := c.call(head); err != nil {
			return err
		}
	}
	return nil
}

func (c *claude) call(head string) error {
	id := c.session.id("toolu_")
	use := func(tool, input string) error {
		c.add(input)
		return c.line(`%s{"type":"tool_use","id":"%s","name":"%s","input":%s}]}`, head, id, tool, input)
	}
	result := func(text, screen string) error {
		c.tick(5 * time.Second)
		c.add(text)
		return c.line(`"type":"user","message":{"role":"user","content":[{"tool_use_id":"%s","type":"tool_result","content":%s,"is_error":false}]},"toolUseResult":%s`, id, quote(text), screen)
	}
	switch c.rng.IntN(5) {
	case 0, 1:
		path, text := c.text.listing(c.text.length(5000), "→")
		if err := use("Read", fmt.Sprintf(`{"file_path":"%s"}`, path)); err != nil {
			return err
		}
		return result(text, fmt.Sprintf(`{"type":"text","file":{"filePath":"%s","content":%s,"numLines":%d,"startLine":1}}`, path, quote(text), strings.Count(text, "\n")))
	case 2:
		before, after := c.text.diff(c.text.length(300)), c.text.diff(c.text.length(300))
		path := c.text.file().path
		if err := use("Edit", fmt.Sprintf(`{"file_path":"%s","old_string":%s,"new_string":%s,"replace_all":false}`, path, quote(before), quote(after))); err != nil {
			return err
		}
		_, text := c.text.listing(c.text.length(900), "→")
		return result("The file "+path+" has been updated. Here's the result of running `cat -n` on a snippet of the edited file:\n"+text,
			fmt.Sprintf(`{"filePath":"%s","oldString":%s,"newString":%s,"originalFile":%s,"structuredPatch":[]}`, path, quote(before), quote(after), quote(strings.Join(c.text.file().lines, "\n"))))
	}
	command := fmt.Sprintf("go test ./%s/... -run %s 2>&1 | tail -%d", c.text.word(), c.text.name(), 20+c.rng.IntN(200))
	if err := use("Bash", fmt.Sprintf(`{"command":%s,"description":%s}`, quote(command), quote(c.text.sentence()))); err != nil {
		return err
	}
	text := c.text.output()
	if err := c.progress(id, text); err != nil {
		return err
	}
	return result(text, fmt.Sprintf(`{"stdout":%s,"stderr":"","interrupted":false,"isImage":false}`, quote(text)))
}

// progress is what the screen showed while a command ran.
func (c *claude) progress(id, text string) error {
	for range c.rng.IntN(4) {
		err := c.line(`"type":"progress","data":{"type":"bash_progress","output":%s,"fullOutput":%s,"elapsedTimeSeconds":%d,"totalLines":%d},"toolUseID":"bash-progress-0","parentToolUseID":"%s"`,
			quote(text[:min(200, len(text))]), quote(text[:min(1500, len(text))]), c.rng.IntN(60), strings.Count(text, "\n"), id)
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *claude) compaction() error {
	c.parent = "null"
	if err := c.line(`"type":"system","subtype":"compact_boundary","content":"Conversation compacted","compactMetadata":{"trigger":"auto","preTokens":160000}`); err != nil {
		return err
	}
	return c.line(`"isCompactSummary":true,"isVisibleInTranscriptOnly":true,"type":"user","message":{"role":"user","content":%s}`,
		quote("This session is being continued from a previous conversation. "+c.text.prose(7000)))
}
