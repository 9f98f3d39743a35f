package freecode

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/internal/smallfile"
	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// storePaths are the files beside a log that hold its texts; "" where absent.
type storePaths struct {
	messages, meta, memory string
}

// findStore looks below the folder that holds rollout/, as ~/.freecode does:
// sessions/<project>/<id>/messages.jsonl and memory/<id>/memory.json.
func findStore(path string) storePaths {
	dir := filepath.Dir(path)
	id := filepath.Base(dir)
	sessions := filepath.Dir(dir)
	rolloutDir := filepath.Dir(sessions)
	if filepath.Base(sessions) != "sessions" || filepath.Base(rolloutDir) != "rollout" {
		return storePaths{}
	}
	root := filepath.Dir(rolloutDir)
	p := storePaths{memory: existing(filepath.Join(root, "memory", id, "memory.json"))}
	projects, _ := os.ReadDir(filepath.Join(root, "sessions"))
	for _, project := range projects {
		store := filepath.Join(root, "sessions", project.Name(), id)
		p.messages = existing(filepath.Join(store, "messages.jsonl"))
		p.meta = existing(filepath.Join(store, "meta.json"))
		if p.messages != "" || p.meta != "" {
			break
		}
	}
	return p
}

func existing(path string) string {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return path
}

// storedUsage is the usage a stored line repeats from its response.
type storedUsage struct {
	Input     *int64 `json:"inputTokens"`
	Output    *int64 `json:"outputTokens"`
	CacheRead *int64 `json:"cacheReadInputTokens"`
}

// storedPart is one part of a stored message.
type storedPart struct {
	Type     string `json:"type"`
	Content  string `json:"content"`
	Language string `json:"language"`
	Tool     struct {
		Name string         `json:"name"`
		Args jsontext.Value `json:"args"`
	} `json:"tool"`
	Result    *string `json:"result"`
	Data      string  `json:"data"`
	MediaType string  `json:"mediaType"`
}

// message is one line of messages.jsonl.
type message struct {
	ID        string       `json:"id"`
	Role      string       `json:"role"`
	Parts     []storedPart `json:"parts"`
	Timestamp int64        `json:"timestamp"`
	Usage     *storedUsage `json:"usage"`
	Synthetic string       `json:"synthetic"`
}

// tool returns the message's tool part and its index, nil if it has none.
func (m *message) tool() (*storedPart, int) {
	for i := range m.Parts {
		if m.Parts[i].Type == "tool" {
			return &m.Parts[i], i
		}
	}
	return nil, 0
}

// text is a text or code part as it is sent: code goes in a fence.
func (p *storedPart) text() string {
	if p.Type == "code" {
		return "```" + p.Language + "\n" + p.Content + "\n```"
	}
	return p.Content
}

// meta is what is used of meta.json.
type meta struct {
	ProjectPath string `json:"projectPath"`
	ParentID    string `json:"parentId"`
	CreatedAt   int64  `json:"createdAt"`
}

// memory is what is used of memory.json. Its messages hold the user and
// assistant texts since the last compaction, also of sessions without a store.
type memory struct {
	Messages  []memoryMessage `json:"messages"`
	Summaries []summary       `json:"summaries"`
}

type memoryMessage struct {
	Role      string `json:"role"`
	Content   string `json:"content"`
	Timestamp int64  `json:"timestamp"`
}

type summary struct {
	CreatedAt int64  `json:"createdAt"`
	Content   string `json:"content"`
}

// store is all that lies beside a log.
type store struct {
	found    bool // messages.jsonl was there
	messages []*message
	meta     meta
	memory   memory
	problems []rollout.Problem
}

func loadStore(path string) (*store, error) {
	p := findStore(path)
	s := &store{}
	if p.messages != "" {
		if err := s.loadMessages(p.messages); err != nil {
			return nil, err
		}
	}
	if err := s.loadJSON(p.meta, &s.meta); err != nil {
		return nil, err
	}
	if err := s.loadJSON(p.memory, &s.memory); err != nil {
		return nil, err
	}
	slices.SortStableFunc(s.memory.Summaries, func(a, b summary) int { return int(min(1, max(-1, a.CreatedAt-b.CreatedAt))) })
	return s, nil
}

func (s *store) loadMessages(path string) error {
	r, err := logfile.Open(path)
	if errors.Is(err, logfile.ErrNotLog) {
		s.problem(path, 0, "unreadable-store", "the message store beside the log cannot be read")
		return nil
	}
	if err != nil {
		return err
	}
	defer r.Close()
	s.found = true
	for r.Next() {
		m := &message{}
		if logfile.Unmarshal(r.Record(), m) != nil || m.Role == "" {
			s.problem(path, r.Line(), "bad-record", "the line is not a stored message; it was skipped")
			continue
		}
		s.messages = append(s.messages, m)
	}
	s.problems = append(s.problems, r.Problems()...)
	return r.Err()
}

// maxJSON bounds the small files of the store.
const maxJSON = 64 << 20

// loadJSON reads one of the small files. A damaged one is a problem, not an
// error: the log stands without it.
func (s *store) loadJSON(path string, v any) error {
	if path == "" {
		return nil
	}
	raw, err := smallfile.Read(path, maxJSON)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if errors.Is(err, smallfile.ErrRefused) {
		s.problem(path, 0, "bad-json", "the file is too large, or no regular file; it was skipped")
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the message store: %w", err)
	}
	valid, _ := logfile.ValidUTF8(raw)
	if logfile.Unmarshal(valid, v) != nil {
		s.problem(path, 0, "bad-json", "the file is not valid JSON; it was skipped")
	}
	return nil
}

func (s *store) problem(path string, line int, kind, detail string) {
	s.problems = append(s.problems, rollout.Problem{File: path, Line: line, Kind: kind, Detail: detail, Count: 1})
}
