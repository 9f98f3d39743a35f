//go:build unix

package smallfile

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReadWhatHasNoEnd(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	for _, path := range []string{fifo, "/dev/zero", "/dev/null"} {
		_, err := Read(path, 1<<20)
		assert.EqualError(t, err, path+": not read: not a regular file")
	}
}
