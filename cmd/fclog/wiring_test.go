package main

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fclog/fclog/rollout/formats"
)

func TestMainOf(t *testing.T) {
	t.Parallel()
	format := formats.Format{Companions: func(path string) []string {
		if path == "main.jsonl" {
			return []string{"main/agent-1.jsonl"}
		}
		return nil
	}}
	var found []formats.Session
	for _, path := range []string{"main/agent-1.jsonl", "other.jsonl", "main.jsonl"} {
		found = append(found, formats.Session{File: formats.File{Path: path, Format: format}})
	}
	assert.Equal(t, "main.jsonl", mainOf("main/agent-1.jsonl", found))
	assert.Equal(t, "main.jsonl", mainOf("main.jsonl", found))
	assert.Equal(t, "other.jsonl", mainOf("other.jsonl", found))
}
