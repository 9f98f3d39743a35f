package opencode

import (
	"os"
	"path/filepath"
	"strings"
)

// Companions is nil: sub-agents are sessions of their own, in the same database
// or in files like any other.
func Companions(string) []string { return nil }

// Depends names what Read uses beside path: the log of a database that its newest
// rows stand in, the message and part files of a session file.
func Depends(path string) []string {
	if Carrier(path) {
		return []string{path + walSuffix}
	}
	if isSessionID(idOf(path)) {
		return treeFiles(path)
	}
	return nil
}

// Homes lists where OpenCode keeps its sessions: the databases of its release
// channels, and the session files of older versions.
func Homes(getenv func(string) string) []string {
	var out []string
	for _, data := range dataFolders(getenv) {
		out = append(out, filepath.Join(data, "opencode.db"))
		out = append(out, channels(data)...)
		out = append(out, filepath.Join(data, "storage", "session"))
	}
	return out
}

// channels lists the databases of other release channels than the main one.
func channels(data string) []string {
	entries, err := os.ReadDir(data)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		if name := e.Name(); strings.HasPrefix(name, "opencode-") && strings.HasSuffix(name, ".db") {
			out = append(out, filepath.Join(data, name))
		}
	}
	return out
}

func dataFolders(getenv func(string) string) []string {
	if data := getenv("XDG_DATA_HOME"); data != "" {
		return []string{filepath.Join(data, "opencode")}
	}
	var out []string
	if home := first(getenv("HOME"), getenv("USERPROFILE")); home != "" {
		out = append(out, filepath.Join(home, ".local", "share", "opencode"))
	}
	if local := getenv("LOCALAPPDATA"); local != "" {
		out = append(out, filepath.Join(local, "opencode"))
	}
	return out
}
