package gemini

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/devdata"
	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/fidelity"
)

// TestWirePayloads compares rebuilt payloads, part by part and in order, with
// what was really sent.
func TestWirePayloads(t *testing.T) {
	for name, want := range map[string]struct {
		file     string
		requests int
	}{
		"small":  {"session-2026-11-30T18-36-452ff314.jsonl", 13},
		"medium": {"session-2026-11-30T18-44-3fe55f9d.jsonl", 36}, // 39 sent, 2 of them failed, 1 a helper's
	} {
		t.Run(name, func(t *testing.T) {
			dir := devdata.Dir(t, "wire", "gemini-cli-0.61.0", name)
			sent, err := fidelity.ReadWire(filepath.Join(dir, "wire-summary.jsonl.gz"))
			require.NoError(t, err)
			s := readOne(t, filepath.Join(dir, "log", "project", "chats", want.file))
			assert.Empty(t, s.Problems)
			require.Len(t, s.Requests, want.requests)
			result := fidelity.Compare([]*rollout.Session{s}, sent)
			sums := fidelity.SumOf(result.Pairs())
			for _, p := range result.Pairs() {
				if p.Missing+p.Extra+p.Different+p.Moved > 0 {
					t.Errorf("request %d: %d missing, %d extra, %d different, %d moved", p.Number, p.Missing, p.Extra, p.Different, p.Moved)
				}
			}
			t.Logf("%+v; share %v", sums, *sums.Share)
			assert.Equal(t, want.requests, sums.Requests)
			assert.Equal(t, want.requests, sums.Usage, "usage equal to the wire's")
			assert.Equal(t, want.requests, sums.OrderKept)
			assert.GreaterOrEqual(t, *sums.Share, 0.995)
		})
	}
}

func readOne(t testing.TB, path string) *rollout.Session {
	t.Helper()
	sessions, err := Read(context.Background(), path)
	require.NoError(t, err)
	require.Len(t, sessions, 1)
	return sessions[0]
}
