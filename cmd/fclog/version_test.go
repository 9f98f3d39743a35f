package main_test

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestVersionOfARelease builds with the flags of the Makefile.
func TestVersionOfARelease(t *testing.T) {
	makefile := read(t, filepath.Join("..", "..", "Makefile"))
	_, flags, found := strings.Cut(makefile, "LDFLAGS     := ")
	require.True(t, found)
	flags, _, _ = strings.Cut(flags, "\n")
	require.Contains(t, flags, "$(VERSION)")
	built := filepath.Join(t.TempDir(), "fclog.exe")
	out, err := exec.Command("go", "build", "-ldflags", strings.ReplaceAll(flags, "$(VERSION)", "v9.8.7"), "-o", built, ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	shown, err := exec.Command(built, "--version").Output()
	require.NoError(t, err)
	assert.True(t, bytes.HasPrefix(shown, []byte("fclog v9.8.7")), "%s", shown)
}
