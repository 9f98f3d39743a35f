package formats

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestExpandPrefersNative: of a trial's folder only the agent's own log is read,
// wherever below it lies; a trajectory alone is read, and so is one that merely
// lies in the same folder as a foreign log.
func TestExpandPrefersNative(t *testing.T) {
	const (
		trajectory = "{\n \"schema_version\": \"ATIF-v1.5\",\n \"session_id\": \"s\",\n \"steps\": []\n}\n"
		codexLog   = `{"timestamp":"2026-05-04T09:00:00.000Z","type":"session_meta","payload":{"id":"s","timestamp":"2026-05-04T09:00:00.000Z","cwd":"/w","originator":"codex_exec","cli_version":"0.98.0","source":"exec"}}` + "\n"
	)
	root := tree(t, map[string]string{
		"job/one__a/agent/trajectory.json":                trajectory,
		"job/one__a/agent/trajectory.cont-1.json":         trajectory,
		"job/one__a/agent/sessions/2026/05/rollout.jsonl": codexLog,
		"job/two__b/agent/trajectory.json":                trajectory,
		"job/two__b/result.json":                          "{\n \"trial_name\": \"two__b\"\n}\n",
		"flat/x.trajectory.json":                          trajectory,
		"flat/y.jsonl":                                    codexLog,
	})
	files, skipped, err := Expand(context.Background(), []string{root})
	require.NoError(t, err)
	assert.Equal(t, []string{
		"atif:flat/x.trajectory.json", "codex:flat/y.jsonl",
		"codex:job/one__a/agent/sessions/2026/05/rollout.jsonl", "atif:job/two__b/agent/trajectory.json",
	}, names(t, root, files))
	require.Len(t, skipped, 2)
	for _, s := range skipped {
		assert.Equal(t, filepath.Join(root, "job/one__a/agent"), filepath.Dir(s.Path))
		assert.Contains(t, s.Reason, "read instead")
	}
}
