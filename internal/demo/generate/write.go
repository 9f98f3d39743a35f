package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// object writes a JSON object with its keys in the order given.
func object(pairs ...any) string {
	var fields []string
	for i := 0; i < len(pairs); i += 2 {
		fields = append(fields, text(pairs[i])+":"+text(pairs[i+1]))
	}
	return "{" + strings.Join(fields, ",") + "}"
}

// text is a JSON value without HTML escapes, as JavaScript writes it.
func text(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // the values are strings, numbers and lists of them
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// event appends a line to events.jsonl.
func (s *session) event(kind, turn string, pairs ...any) {
	base := []any{"type", kind, "id", s.ulid(), "seq", len(s.events) + 1, "aggregateID", sessionID, "timestamp", s.now.UnixMilli(), "turnId", turn}
	s.events = append(s.events, object(append(base, pairs...)...))
	s.wait(1)
}

const base32 = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// ulid is an event ID: ten characters of time, ten at random.
func (s *session) ulid() string {
	var id [20]byte
	ms := s.now.UnixMilli()
	for i := range 10 {
		id[9-i] = base32[ms&31]
		ms >>= 5
		id[10+i] = base32[s.random.IntN(32)]
	}
	return string(id[:])
}

func (s *session) uuid() string {
	a, b := s.random.Uint64(), s.random.Uint64()
	return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", a>>32, a>>16&0xffff, a&0xfff, b>>48&0xfff, b&0xffffffffffff)
}

// files are what FreeCode leaves below its home folder.
func (s *session) files() []file {
	store := "sessions/home__dev__tidewater/" + sessionID + "/"
	first, last := s.store[0].at, s.now.UnixMilli()
	meta := object("id", sessionID, "title", "Tide times one hour early", "projectPath", root, "provider", provider, "model", model,
		"status", "active", "createdAt", first-800, "updatedAt", last, "lastTurnAt", first-800, "turnCount", 0)
	memory := object("sessionId", sessionID, "messages", []string{}, "summaries", []string{}, "tokenCount", 0, "totalCompactions", 0)
	return []file{
		{"rollout/sessions/" + sessionID + "/events.jsonl", []byte(strings.Join(s.events, "\n") + "\n")},
		{store + "messages.jsonl", s.storedLines()},
		{store + "meta.json", []byte(meta + "\n")},
		{"memory/" + sessionID + "/memory.json", []byte(memory + "\n")},
	}
}

func (s *session) storedLines() []byte {
	var b bytes.Buffer
	for _, m := range s.store {
		part := json.RawMessage(object("type", "text", "content", m.text))
		if m.tool != "" {
			tool := json.RawMessage(object("name", m.tool, "args", json.RawMessage(m.args)))
			part = json.RawMessage(object("type", "tool", "tool", tool, "result", m.reply))
		}
		pairs := []any{"id", m.id, "role", m.role, "parts", []json.RawMessage{part}, "timestamp", m.at}
		if m.usage != nil {
			u := m.usage
			pairs = append(pairs, "usage", json.RawMessage(object("inputTokens", u["inputTokens"], "outputTokens", u["outputTokens"],
				"cacheReadInputTokens", u["cacheReadInputTokens"], "cacheWriteInputTokens", u["cacheWriteInputTokens"])))
		}
		b.WriteString(object(pairs...) + "\n")
	}
	return b.Bytes()
}
