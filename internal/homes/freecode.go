package homes

import (
	"bufio"
	"fmt"
	"strings"
	"time"
)

// freecode writes a session of FreeCode: its events and the messages beside them.
type freecode struct {
	*session
	id       string
	messages strings.Builder
	seq      int
	turns    int // of the run
	pieces   int // sent with every request: the system prompt, texts, calls, results
}

func writeFreeCode(s *session) error {
	f := &freecode{session: s, pieces: 1, id: fmt.Sprintf("session-%d-%s", s.now.UnixMilli(), s.uuid()[:5])}
	if err := s.create(f.fill, "rollout", "sessions", f.id, "events.jsonl"); err != nil {
		return err
	}
	folder := "home__dev__" + strings.ReplaceAll(s.text.project.name, "-", "_h_")
	return s.create(func() error { return writeAll(s.file, f.messages.String()) }, "sessions", folder, f.id, "messages.jsonl")
}

func writeAll(w *bufio.Writer, text string) error {
	_, err := w.WriteString(text)
	return err
}

func (f *freecode) fill() error {
	for !f.full() {
		f.tick(20 * time.Minute)
		f.turns = 0
		text := f.text.prose(f.text.length(400))
		f.message("user", `{"type":"text","content":`+quote(text)+`}`, text)
		for range 4 + f.rng.IntN(25) {
			if f.full() {
				break
			}
			if err := f.turn(true); err != nil {
				return err
			}
		}
		if err := f.turn(false); err != nil {
			return err
		}
	}
	return nil
}

func (f *freecode) event(kind, rest string, args ...any) error {
	f.seq++
	return f.record(`{"type":"%s","id":"%s","seq":%d,"aggregateID":"%s","timestamp":%d,"turnId":"turn-%d",%s}`,
		kind, f.session.id("01K"), f.seq, f.id, f.tick(200*time.Millisecond).UnixMilli(), f.turns, fmt.Sprintf(rest, args...))
}

func (f *freecode) message(role, part, text string) {
	f.add(text)
	f.pieces++
	fmt.Fprintf(&f.messages, `{"id":"%s","role":"%s","parts":[%s],"timestamp":%d}`+"\n", f.uuid(), role, part, f.now.UnixMilli())
}

// turn is one response; all but the last of a run call a tool.
func (f *freecode) turn(calls bool) error {
	if err := f.event("model.request", `"provider":"minimax","model":"MiniMax-M3","messageCount":%d,"toolCount":16,"promptChars":%d,"streamed":true`, f.pieces, f.context*4); err != nil {
		return err
	}
	f.tick(20 * time.Second)
	input, read, write, output := f.usage()
	tools, text := "", f.text.prose(f.text.length(200))
	if calls {
		tools = `"bash"`
	}
	if err := f.event("model.response", `"provider":"minimax","model":"MiniMax-M3","duration_ms":900,"ttft_ms":300,"inputTokens":%d,"outputTokens":%d,"cacheReadTokens":%d,"cacheWriteTokens":0,"toolCalls":[%s],"textChars":%d,"thinkingChars":0`,
		input+read+write, output, read, tools, len(text)); err != nil {
		return err
	}
	f.message("assistant", `{"type":"text","content":`+quote(text)+`}`, text)
	if calls {
		if err := f.bash(); err != nil {
			return err
		}
	}
	f.turns++
	return nil
}

func (f *freecode) bash() error {
	args := fmt.Sprintf(`{"command":%s}`, quote(fmt.Sprintf("go test ./%s/... -run %s", f.text.word(), f.text.name())))
	text := f.text.output()
	if f.rng.IntN(2) == 0 {
		path, listing := f.text.listing(f.text.length(5000), ": ")
		args, text = fmt.Sprintf(`{"command":"cat -n %s"}`, path), listing
	}
	if err := f.event("function.call", `"tool":"bash","args":%s`, args); err != nil {
		return err
	}
	if err := f.event("function.output", `"tool":"bash","output":%s,"duration_ms":5`, quote(text)); err != nil {
		return err
	}
	f.message("assistant", fmt.Sprintf(`{"type":"tool","tool":{"name":"bash","args":%s},"result":%s}`, args, quote(text)), args+text)
	f.pieces++ // call and result
	return nil
}
