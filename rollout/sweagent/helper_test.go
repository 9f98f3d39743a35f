package sweagent

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/rollout"
)

func readOne(t testing.TB, path string) *rollout.Session {
	t.Helper()
	sessions, err := Read(context.Background(), path)
	require.NoError(t, err)
	require.Len(t, sessions, 1)
	return sessions[0]
}
