package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSessionIsUpToDate(t *testing.T) {
	want, err := os.ReadFile("session.jsonl")
	require.NoError(t, err)
	assert.True(t, string(want) == session(), "run 'go run ./cmd/fclog/demo' in the root of the repository")
}
