package codex

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
	Thread string     `json:"thread"`
	Status int        `json:"status"`
	Parts  []wirePart `json:"parts"`
	Usage  struct {
		Input int64 `json:"input_tokens"`
	} `json:"usage"`
}

type wirePart struct {
	Slot   string `json:"slot"`
	Item   int    `json:"i"` // input items are numbered; an item has one or more parts
	Kind   string `json:"kind"`
	Role   string `json:"role"`
	Tokens int64  `json:"tokens"`
	SHA256 string `json:"sha256"`
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

// payload lists the texts of a request in the order they were sent.
func payload(s *rollout.Session, r rollout.Request) []rollout.Span {
	var out []rollout.Span
	for _, sp := range s.Spans {
		if sp.Chain == r.Chain && sp.First <= r.Number && r.Number <= sp.Last {
			out = append(out, sp)
		}
	}
	slices.SortFunc(out, func(x, y rollout.Span) int { return int(x.Position - y.Position) })
	return out
}

func hashes(s *rollout.Session, spans []rollout.Span) []string {
	var out []string
	for _, sp := range spans {
		h := s.Texts[sp.Text].Hash
		out = append(out, hex.EncodeToString(h[:]))
	}
	return out
}

// inOrder returns the tokens of the wire's parts that the rebuilt list holds in
// the same order, and how many rebuilt parts were not sent.
func inOrder(wire []wirePart, rebuilt []string) (tokens int64, extra int) {
	at := 0
	for _, p := range wire {
		if i := slices.Index(rebuilt[at:], p.SHA256); i >= 0 {
			tokens += p.Tokens
			extra += i
			at += i + 1
		}
	}
	return tokens, extra + len(rebuilt) - at
}

// served are the requests of a thread that were answered. A request sent again
// unchanged is the retry of one whose stream broke, which the log does not show.
func served(wire []wireRequest, thread string) []wireRequest {
	var out []wireRequest
	for _, w := range wire {
		if w.Thread != thread || w.Status != 200 {
			continue
		}
		if n := len(out); n > 0 && slices.Equal(out[n-1].Parts, w.Parts) {
			out = out[:n-1]
		}
		out = append(out, w)
	}
	return out
}

// logged leaves out what the file does not hold: tool definitions in a field of
// their own and the prompt of a compaction (the last message).
func logged(w wireRequest, kind rollout.RequestKind) []wirePart {
	var parts []wirePart
	for _, p := range w.Parts {
		if p.Slot == "input" {
			parts = append(parts, p)
		}
	}
	if kind == rollout.KindCompaction {
		parts = parts[:len(parts)-1]
	}
	return parts
}

// TestWirePayloads compares rebuilt payloads, part by part and in order, with
// what was really sent.
func TestWirePayloads(t *testing.T) {
	for name, requests := range map[string]int{"small-direct": 13, "medium-code": 58, "large-direct": 109} {
		t.Run(name, func(t *testing.T) {
			dir := devdata.Dir(t, "wire", "codex-0.171.0", name)
			wire := readWire(t, filepath.Join(dir, "wire-summary.jsonl.gz"))
			files, err := filepath.Glob(filepath.Join(dir, "log", "*.jsonl"))
			require.NoError(t, err)
			var matched, all, total int64
			compared := 0
			for _, file := range files {
				s := readOne(t, file)
				assert.Empty(t, s.Problems)
				own := slices.DeleteFunc(slices.Clone(s.Requests), func(r rollout.Request) bool { return r.Inherited })
				sent := served(wire, s.ID)
				require.Len(t, own, len(sent))
				for i, r := range own {
					parts := logged(sent[i], r.Kind)
					got, extra := inOrder(parts, hashes(s, payload(s, r)))
					compared++
					assert.Equal(t, sent[i].Usage.Input, *r.Usage.Input, "request %d has another's usage", r.Number)
					first := parts[0].Item
					if parts[0].Kind == "message/input_text" {
						first++ // the base prompt, a message here, is not counted as one
					}
					assert.EqualValues(t, parts[len(parts)-1].Item-first+1, *r.Messages, "request %d", r.Number)
					matched += got
					for _, p := range parts {
						all += p.Tokens
					}
					for _, p := range sent[i].Parts {
						total += p.Tokens
					}
					assert.Zero(t, extra, "request %d holds parts that were not sent", r.Number)
				}
			}
			assert.Equal(t, requests, compared)
			share := float64(matched) / float64(all)
			t.Logf("%d requests: %d of %d tokens of logged parts rebuilt (%.5f); they are %.3f of all that was sent", compared, matched, all, share, float64(all)/float64(total))
			assert.GreaterOrEqual(t, share, 0.999)
		})
	}
}
