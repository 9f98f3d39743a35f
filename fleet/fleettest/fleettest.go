// Package fleettest is what the tests of several schedulers and stores share.
package fleettest

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Build builds the program into dir and returns its path. The test runs in a folder
// two below the module's.
func Build(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "fclog")
	out, err := exec.Command("go", "build", "-o", path, "../../cmd/fclog").CombinedOutput()
	require.NoError(t, err, string(out))
	return path
}

// Files is the SHA-256 of each file of a dataset but what imports note for
// themselves.
func Files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		require.NoError(t, err)
		raw, err := os.ReadFile(path)
		if !strings.HasPrefix(name, "_state") {
			out[name] = fmt.Sprintf("%x", sha256.Sum256(raw))
		}
		return err
	}))
	require.NotEmpty(t, out)
	return out
}
