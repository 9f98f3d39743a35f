package fidelity

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/fclog/fclog/internal/tokens"
	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// ErrNoBodies says that nothing in what was named tells what was sent.
var ErrNoBodies = errors.New("no request bodies found")

// ReadSent reads what was sent from files and folders: wire summaries and files of
// request bodies, in the order of their time. Files of other kinds in a folder are
// passed over. read reads the files that are no wire summaries as sessions of
// request bodies.
func ReadSent(paths []string, t *tokens.Tokens, read func(files []string) ([]*rollout.Session, error)) ([]Request, error) {
	var out []Request
	var bodies []string
	for _, path := range paths {
		files, err := filesOf(path)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			if head, err := logfile.Head(file, 1); err != nil || !IsWire(head) {
				bodies = append(bodies, file)
				continue
			}
			sent, err := ReadWire(file)
			if err != nil {
				return nil, err
			}
			out = append(out, sent...)
		}
	}
	if len(bodies) > 0 {
		sessions, err := read(bodies)
		if err != nil && len(out) == 0 {
			return nil, err
		}
		out = append(out, FromSessions(sessions, t)...)
		slices.SortStableFunc(out, func(x, y Request) int { return x.Time.Compare(y.Time) })
	}
	for i := range out {
		out[i].Index = i
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w: the files hold no requests", ErrNoBodies)
	}
	return out, nil
}

// filesOf lists a file, or the files below a folder.
func filesOf(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var files []string
	err = filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, file)
		}
		return err
	})
	return files, err
}

// AddLog notes the texts of a log file and of the files it is read together with,
// of which some need not exist. Databases are not looked into.
func (h Held) AddLog(paths ...string) error {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if _, err := logfile.Head(path, 1); errors.Is(err, logfile.ErrNotLog) {
			continue
		}
		if err := h.Add(path); err != nil {
			return err
		}
	}
	return nil
}
