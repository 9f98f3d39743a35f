package smallfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "f")
	require.NoError(t, os.WriteFile(file, []byte("12345"), 0o600))
	data, err := Read(file, 5)
	require.NoError(t, err)
	assert.Equal(t, "12345", string(data))

	_, err = Read(file, 4)
	assert.EqualError(t, err, file+": not read: larger than 4 bytes")
	assert.ErrorIs(t, err, ErrRefused)
	_, err = Read(dir, 5)
	assert.EqualError(t, err, dir+": not read: a folder")
	_, err = Read(filepath.Join(dir, "none"), 5)
	assert.ErrorIs(t, err, fs.ErrNotExist)
}

// A file of any size costs no more than the limit.
func TestReadLarge(t *testing.T) {
	file := filepath.Join(t.TempDir(), "large")
	f, err := os.Create(file)
	require.NoError(t, err)
	require.NoError(t, f.Truncate(10<<30)) // a hole: takes no room
	require.NoError(t, f.Close())
	_, err = Read(file, 2<<20)
	assert.EqualError(t, err, file+": not read: larger than 2 MiB")
}
