package opencode

import (
	"compress/gzip"
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
	Usage struct {
		Input   int64 `json:"prompt_tokens"`
		Output  int64 `json:"completion_tokens"`
		Details struct {
			Cached int64 `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	} `json:"usage"`
	Parts []struct {
		Slot   string `json:"slot"`
		Tokens int64  `json:"tokens"`
		SHA256 string `json:"sha256"`
	} `json:"parts"`
}

func readWire(t *testing.T, path string) []wireRequest {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	var out []wireRequest
	for dec := json.NewDecoder(z); dec.More(); {
		var r wireRequest
		require.NoError(t, dec.Decode(&r))
		out = append(out, r)
	}
	return out
}

// logged are the parts of a request that the log holds: the messages, without
// the empty text that stands beside calls.
func (w wireRequest) logged() []string {
	var out []string
	for _, p := range w.Parts {
		if p.Slot == "messages" && p.Tokens > 0 {
			out = append(out, p.SHA256)
		}
	}
	return out
}

// rebuilt are the hashes of what the reader says a request carried.
func rebuilt(s *rollout.Session, r rollout.Request) []string {
	var spans []rollout.Span
	for _, sp := range s.Spans {
		if sp.Chain == r.Chain && sp.First <= r.Number && r.Number <= sp.Last && s.Texts[sp.Text].Bytes > 0 {
			spans = append(spans, sp)
		}
	}
	slices.SortFunc(spans, func(x, y rollout.Span) int { return int(x.Position - y.Position) })
	var out []string
	for _, sp := range spans {
		h := s.Texts[sp.Text].Hash
		out = append(out, hex.EncodeToString(h[:]))
	}
	return out
}

// TestWirePayloads: every logged part of every request was sent as rebuilt, in
// order, nothing more; usage is the wire's. The title request, the first of each
// capture, is not in the log.
func TestWirePayloads(t *testing.T) {
	for name, requests := range map[string]int{"small": 13, "large": 111} {
		dir := devdata.Dir(t, "wire", "opencode-1.18.33", name)
		wire := readWire(t, filepath.Join(dir, "wire-summary.jsonl.gz"))[1:]
		require.Len(t, wire, requests)
		s := sessionsOf(t, filepath.Join(dir, "log", "opencode.db"))[0]
		require.Len(t, s.Requests, requests)
		for i, r := range s.Requests {
			assert.Equal(t, wire[i].Usage.Input, *r.Usage.Input, "%s %d", name, i)
			assert.Equal(t, wire[i].Usage.Output, *r.Usage.Output, "%s %d", name, i)
			assert.Equal(t, wire[i].Usage.Details.Cached, *r.Usage.CacheRead, "%s %d", name, i)
			if r.Kind != rollout.KindCompaction {
				assert.Equal(t, wire[i].logged(), rebuilt(s, r), "%s %d", name, i)
			}
		}
	}
}
