package opencode

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDamagedExports: an export cut anywhere is an error, one with bytes of
// another kind in it an error or a session that holds together; never a crash.
func TestDamagedExports(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(testdata, "port.export.json"))
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "x.json")
	read := func(content []byte) error {
		require.NoError(t, os.WriteFile(path, content, 0o600))
		_, err := Read(context.Background(), path)
		return err
	}
	for at := 1; at < len(strings.TrimSpace(string(raw))); at += 97 {
		assert.Error(t, read(raw[:at]), "cut at %d", at)
	}
	for _, swap := range [][2]string{
		{`"text":`, `"text": 7, "was":`}, {`"state": {`, `"state": "x", "was": {`}, {`"tokens": {`, `"tokens": [], "was": {`},
		{`"time": {`, `"time": null, "was": {`}, {`"parts": [`, `"parts": null, "was": [`}, {`"callID": `, `"was": `},
		{`"created": `, `"created": -`}, {`"reasoning": 20`, `"reasoning": 99999999999999999`}, {`"id": "msg_`, `"id": "msg_same", "was": "`},
		{`"role": "user"`, `"role": "assistant", "summary": true`}, {`"type": "text"`, `"type": "step-start"`},
	} {
		assert.NoError(t, read([]byte(strings.Replace(strings.ReplaceAll(string(raw), swap[0], swap[1]), `"was": [`, `"x": [`, 1))), swap[0])
	}
	assert.NoError(t, read(append(raw, make([]byte, 4096)...)), "zeros of a crash behind it")
}

// TestDamagedTree: files that are cut, empty or no JSON cost themselves alone.
func TestDamagedTree(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join(testdata, "storage"))))
	damage := func(name, content string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	damage("message/ses_old01/msg_old01_07.json", `{"role":"assist`)
	damage("part/msg_old01_02/prt_old01_004.json", "")
	damage("message/ses_old01/msg_zzz.json", "[]")
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "part/msg_old01_01")))
	s := sessionsOf(t, filepath.Join(dir, "session/p1/ses_old01.json"))[0]
	assert.Len(t, s.Requests, 3)
	var kinds []string
	for _, p := range s.Problems {
		kinds = append(kinds, p.Kind)
	}
	assert.Subset(t, []string{"bad-json", "unreadable-file"}, kinds)
	assert.NotEmpty(t, kinds)
}

// FuzzRead: whatever a file holds, reading it is an error or sessions that pass
// rollout.Check, which Read calls.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"port.export.json", "port-survey.export.json", "compaction.export.json", "storage/session/p1/ses_old01.json", "opencode.db"} {
		raw, err := os.ReadFile(filepath.Join(testdata, name))
		require.NoError(f, err)
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		path := filepath.Join(t.TempDir(), "ses_fuzz.json")
		require.NoError(t, os.WriteFile(path, raw, 0o600))
		_ = Detect([][]byte{raw})
		_, err := Read(context.Background(), path)
		if err != nil {
			for _, fault := range []string{"exceed", "negative usage", "used twice", "no request", "no item", "no text", "not an earlier"} {
				assert.NotContains(t, err.Error(), fault, "a fault of the reader")
			}
		}
	})
}

// TestSessionWithoutItsTree: a session file alone says that its messages are missing.
func TestSessionWithoutItsTree(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(testdata, "storage/session/p1/ses_old01.json"))
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "ses_old01.json")
	require.NoError(t, os.WriteFile(path, raw, 0o600))
	sessions, err := Read(context.Background(), path)
	require.NoError(t, err)
	require.Len(t, sessions, 1)
	assert.Empty(t, sessions[0].Requests)
	require.Len(t, sessions[0].Problems, 1)
	assert.Equal(t, "missing-messages", sessions[0].Problems[0].Kind)
}
