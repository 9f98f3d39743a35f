package fidelity

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/tokens"
	"github.com/fclog/fclog/rollout"
)

// FuzzReadWire: whatever a summary holds, it is read or refused, and can be compared.
func FuzzReadWire(f *testing.F) {
	seed, err := os.ReadFile(filepath.Join("..", "..", "testdata", "against", "wire-summary.jsonl"))
	require.NoError(f, err)
	f.Add(seed)
	f.Add([]byte(`{"timestamp":1e300,"session":"s","eventLine":-1,"usage":{"input_tokens":-5},"parts":[{"where":"message","kind":"tool_use","tokens":9e18,"sha256":"00"}]}`))
	counter := tokens.New()
	counter.Count(tokens.O200K, "loads the vocabulary")
	f.Fuzz(func(t *testing.T, raw []byte) {
		path := filepath.Join(t.TempDir(), "wire.jsonl")
		require.NoError(t, os.WriteFile(path, raw, 0o600))
		sent, err := ReadWire(path)
		if err != nil {
			return
		}
		l := newLog("reminders").add(rollout.UserText, "Why does the test fail?").request(rollout.Request{Model: "gpt-5.3-codex", Usage: usageOf(61, 20), Line: 1})
		SumOf(Comparison{Tokens: counter}.Compare(l.sessions(), sent).Pairs())
	})
}
