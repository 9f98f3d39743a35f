package claudecode

import (
	"cmp"
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

// sent is one request as it really went out.
type sent struct {
	Thread string
	Status int
	Model  string
	Usage  *struct {
		Input int64 `json:"input_tokens"`
		Read  int64 `json:"cache_read_input_tokens"`
		Write int64 `json:"cache_creation_input_tokens"`
	}
	Parts []struct {
		Slot, Kind, Role, Sha256 string
		Tokens                   int64
	}
}

func readSent(t *testing.T, path string) []sent {
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	var out []sent
	dec := json.NewDecoder(z)
	for dec.More() {
		var s sent
		require.NoError(t, dec.Decode(&s))
		out = append(out, s)
	}
	return out
}

// The part of the tokens really sent whose text the rebuilt payload holds, in
// order. 2.1.332 logs everything but one billing line. 2.0.77 logs no system
// prompt, no tools and no injected user text, which are left out here; a reminder
// inside a tool result that is not in the log makes that whole result differ. Its
// second run is a resume, which lost the parallel calls beside the path.
func TestPayloadsEqualWhatWasSent(t *testing.T) {
	for _, c := range []struct {
		dir     string
		share   float64
		prefix  bool // system prompt and tools are logged
		aligned int  // requests of the log found on the wire
	}{
		{"claude-code-2.0.77/small", 0.88, false, 17},
		{"claude-code-2.1.332/small", 0.998, true, 14},
		{"claude-code-2.1.332/medium", 0.999, true, 48},
	} {
		t.Run(c.dir, func(t *testing.T) {
			dir := devdata.Dir(t, "wire", c.dir)
			wires := readSent(t, filepath.Join(dir, "wire-summary.jsonl.gz"))
			logs, err := filepath.Glob(filepath.Join(dir, "log", "*", "*.jsonl"))
			require.NoError(t, err)
			var matched, total int64
			aligned, surplus := 0, 0
			for _, log := range logs {
				if info, _ := os.Stat(log); info.Size() == 0 || Companions(log) == nil && filepath.Base(log)[:6] == "agent-" {
					continue
				}
				for _, s := range readAll(t, log) {
					next := 0
					for i, r := range s.Requests {
						w := find(wires[next:], r)
						if w < 0 {
							t.Logf("request %d of %s (line %d, %s) is not on the wire", i, s.ID, r.Line, r.Status)
							continue
						}
						rebuilt := payload(s, i)
						m, all := compare(rebuilt, wires[next+w], c.prefix)
						surplus += notSentAt(rebuilt, wires[next+w])
						matched, total, aligned = matched+m, total+all, aligned+1
						next += w + 1
					}
				}
			}
			t.Logf("%s: %d of %d tokens (%.4f) in %d requests", c.dir, matched, total, float64(matched)/float64(total), aligned)
			assert.Equal(t, c.aligned, aligned)
			assert.Zero(t, surplus, "parts of rebuilt payloads that were not sent")
			assert.GreaterOrEqual(t, float64(matched)/float64(total), c.share)
		})
	}
}

// find looks for the request with the same model and usage.
func find(wires []sent, r rollout.Request) int {
	for i, w := range wires {
		switch {
		case r.Status == rollout.Errored && w.Status >= 400 && w.Model == r.Model:
			return i
		case r.Status == rollout.Answered && w.Usage != nil && w.Status == 200 && w.Usage.Input+w.Usage.Read+w.Usage.Write == value(r.Usage.Input) && w.Usage.Read == value(r.Usage.CacheRead):
			return i
		}
	}
	return -1
}

// compare gives the tokens of the parts that stand in the payload in the same
// order, and of all parts.
func compare(payload []string, w sent, prefix bool) (matched, all int64) {
	at := map[string][]int{}
	for i, hash := range payload {
		at[hash] = append(at[hash], i)
	}
	last := -1
	for _, p := range w.Parts {
		if p.Slot != "messages" && !prefix {
			continue
		}
		found := false
		for _, i := range at[p.Sha256] {
			if found = i > last; found {
				last = i
				matched += p.Tokens
				break
			}
		}
		if injected := p.Kind == "text" && p.Role == "user"; found || prefix || !injected {
			all += p.Tokens
		}
	}
	return matched, all
}

// notSentAt counts the parts of a rebuilt payload that the request did not carry.
func notSentAt(payload []string, w sent) int {
	hashes := map[string]bool{}
	for _, p := range w.Parts {
		hashes[p.Sha256] = true
	}
	n := 0
	for _, hash := range payload {
		if !hashes[hash] {
			n++
		}
	}
	return n
}

// payload is the hashes of all a request carried, in order.
func payload(s *rollout.Session, request int) []string {
	var out []string
	for _, sp := range spansAt(s, request) {
		out = append(out, hex.EncodeToString(s.Texts[sp.Text].Hash[:]))
	}
	return out
}

func spansAt(s *rollout.Session, request int) []rollout.Span {
	r := s.Requests[request]
	var out []rollout.Span
	for _, sp := range s.Spans {
		if sp.Chain == r.Chain && sp.First <= r.Number && r.Number <= sp.Last {
			out = append(out, sp)
		}
	}
	slices.SortFunc(out, func(a, b rollout.Span) int { return cmp.Compare(a.Position, b.Position) })
	return out
}
