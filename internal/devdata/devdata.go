// Package devdata finds the folder of real session logs that some tests read.
// The logs cannot be part of the project; without them those tests skip.
package devdata

import (
	"os"
	"path/filepath"
	"testing"
)

// Dir returns the path of name inside the folder that FCLOG_DATA names. Without
// FCLOG_DATA the test is skipped; with it, a missing file is a failure.
func Dir(t testing.TB, name ...string) string {
	t.Helper()
	root := os.Getenv("FCLOG_DATA")
	if root == "" {
		t.Skip("real logs not available: set FCLOG_DATA to their folder")
	}
	path := filepath.Join(append([]string{root}, name...)...)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("FCLOG_DATA is set, but: %v", err)
	}
	return path
}
