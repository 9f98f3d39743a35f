package fidelity

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout/logfile"
)

// maxDepth bounds how deep nested JSON is followed.
const maxDepth = 200

// Held is the texts a log really holds, by SHA-256: its strings, its objects and
// lists as compact JSON, and the same within strings that are JSON themselves.
type Held map[[32]byte]struct{}

// Has reports whether the log holds the text with this SHA-256, in hex.
func (h Held) Has(sum string) bool {
	var key [32]byte
	if n, err := hex.Decode(key[:], []byte(sum)); err != nil || n != len(key) {
		return false
	}
	_, ok := h[key]
	return ok
}

// Add notes the texts of files of JSON records. What is no JSON is one text.
func (h Held) Add(paths ...string) error {
	for _, path := range paths {
		r, err := logfile.Open(path)
		if err != nil {
			return fmt.Errorf("reading the texts of a log: %w", err)
		}
		for r.Next() {
			h.value(r.Record(), 0)
		}
		err = r.Err()
		if closed := r.Close(); err == nil {
			err = closed
		}
		if err != nil {
			return fmt.Errorf("reading the texts of a log: %w", err)
		}
	}
	return nil
}

func (h Held) text(s string) { h[sha256.Sum256([]byte(s))] = struct{}{} }

// value notes one JSON value and everything in it.
func (h Held) value(raw []byte, depth int) {
	if depth > maxDepth {
		return
	}
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return
	}
	switch raw[0] {
	case '"':
		h.quoted(raw, depth)
	case '{', '[':
		if compact, err := logfile.Compact(raw); err == nil {
			h.text(compact)
		}
		h.members(raw, depth)
	}
}

func (h Held) quoted(raw []byte, depth int) {
	var s string
	if logfile.Unmarshal(raw, &s) != nil {
		return
	}
	h.text(s)
	if inner := strings.TrimSpace(s); strings.HasPrefix(inner, "{") || strings.HasPrefix(inner, "[") {
		if jsontext.Value(inner).IsValid() {
			h.value([]byte(inner), depth+1)
		}
	}
}

func (h Held) members(raw []byte, depth int) {
	dec := jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	open, err := dec.ReadToken()
	if err != nil {
		return
	}
	object := open.Kind() == '{'
	for dec.PeekKind() != '}' && dec.PeekKind() != ']' {
		if object {
			if _, err := dec.ReadToken(); err != nil {
				return
			}
		}
		v, err := dec.ReadValue()
		if err != nil {
			return
		}
		h.value(bytes.Clone(v), depth+1)
	}
}
