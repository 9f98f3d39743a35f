package atif

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/fclog/fclog/rollout/logfile"
)

const schemaPrefix = "ATIF-v"

// Detect tells whether the first record of a file is an ATIF trajectory: it says
// so itself.
func Detect(head [][]byte) bool {
	if len(head) == 0 {
		return false
	}
	var d struct {
		Schema logfile.Lenient[string] `json:"schema_version"`
	}
	return logfile.Unmarshal(head[0], &d) == nil && strings.HasPrefix(d.Schema.V, schemaPrefix)
}

// Homes is nil: trajectories lie where an evaluation puts them.
func Homes(func(string) string) []string { return nil }

// Companions is nil: a file of another trajectory of the same run is found in the
// same folder, and stands for itself.
func Companions(string) []string { return nil }

// continuation matches the name Harbor gives to later files of a run.
var continuation = regexp.MustCompile(`\.cont-(\d+)(\.json)(\.gz|\.zst)?$`)

// Depends names the first file of the run, when path is a continuation of it: it
// tells which session goes on.
func Depends(path string) []string {
	if first := firstFile(path); first != "" {
		return []string{first}
	}
	return nil
}

func firstFile(path string) string {
	if !continuation.MatchString(filepath.Base(path)) {
		return ""
	}
	first := filepath.Join(filepath.Dir(path), continuation.ReplaceAllString(filepath.Base(path), "$2$3"))
	if info, err := os.Stat(first); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return first
}
