package copilot

import (
	"cmp"
	"compress/gzip"
	"context"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/devdata"
	"github.com/fclog/fclog/rollout"
)

// wireRequest is what one request of a capture really carried.
type wireRequest struct {
	Status int `json:"status"`
	Parts  []struct {
		Slot   string `json:"slot"`
		Tokens int64  `json:"tokens"`
		SHA256 string `json:"sha256"`
	} `json:"parts"`
	Usage struct {
		Input   int64 `json:"prompt_tokens"`
		Output  int64 `json:"completion_tokens"`
		Details struct {
			Cached int64 `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	} `json:"usage"`
}

// served reads the requests of a capture that were answered.
func served(t *testing.T, path string) []wireRequest {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	var out []wireRequest
	for dec := json.NewDecoder(z); dec.More(); {
		var w wireRequest
		require.NoError(t, dec.Decode(&w))
		if w.Status == 200 {
			out = append(out, w)
		}
	}
	return out
}

// payload lists the spans of a request in the order they were sent.
func payload(s *rollout.Session, request int) []rollout.Span {
	r := s.Requests[request]
	var out []rollout.Span
	for _, sp := range s.Spans {
		if sp.Chain == r.Chain && sp.First <= r.Number && r.Number <= sp.Last {
			out = append(out, sp)
		}
	}
	slices.SortFunc(out, func(x, y rollout.Span) int { return cmp.Compare(x.Position, y.Position) })
	return out
}

// TestWirePayloads compares rebuilt payloads, part by part and in order, with
// what was really sent. The tool definitions are not logged.
func TestWirePayloads(t *testing.T) {
	dir := devdata.Dir(t, "wire", "copilot-cli-1.0.102", "small")
	logs, err := filepath.Glob(filepath.Join(dir, "log", "session-state", "*", "events.jsonl"))
	require.NoError(t, err)
	require.Len(t, logs, 1)
	sessions, err := Read(context.Background(), logs[0])
	require.NoError(t, err)
	require.Len(t, sessions, 1)
	s := sessions[0]
	assert.Empty(t, s.Problems)
	wire := served(t, filepath.Join(dir, "wire-summary.jsonl.gz"))
	require.Len(t, wire, 13)
	require.Len(t, s.Requests, 13)
	for i, w := range wire {
		var sent, rebuilt []string
		for _, p := range w.Parts {
			if p.Slot != "tools" {
				sent = append(sent, p.SHA256)
			}
		}
		for _, sp := range payload(s, i) {
			h := s.Texts[sp.Text].Hash
			rebuilt = append(rebuilt, hex.EncodeToString(h[:]))
		}
		assert.Equal(t, sent, rebuilt, "request %d", i)
		u := s.Requests[i].Usage
		assert.Equal(t, []int64{w.Usage.Input, w.Usage.Output, w.Usage.Details.Cached}, []int64{*u.Input, *u.Output, *u.CacheRead}, "request %d", i)
	}
}
