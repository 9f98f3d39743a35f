package formats

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// Session is a log file found on this machine.
type Session struct {
	File
	Modified time.Time
	Bytes    int64
}

// Installed finds the sessions of this machine, newest first.
func Installed(ctx context.Context, getenv func(string) string) ([]Session, []Skipped, error) {
	return All().Installed(ctx, getenv)
}

// Installed finds the sessions of this machine in the folders where the agents
// keep them, newest first by the time of the last change. Files of sub-agents
// that belong to a session are left to it. Only the start of each file is read. ErrNothing names the folders that were looked at.
func (l List) Installed(ctx context.Context, getenv func(string) string) ([]Session, []Skipped, error) {
	var places, absent []string
	for _, f := range l {
		for _, home := range f.Homes(getenv) {
			if info, err := os.Stat(home); err == nil && (info.IsDir() || info.Mode().IsRegular()) {
				places = append(places, home)
			} else {
				absent = append(absent, home)
			}
		}
	}
	if len(places) == 0 {
		return nil, nil, nothingInstalled(absent)
	}
	files, skipped, err := l.Expand(ctx, places)
	if err != nil {
		return nil, skipped, err
	}
	return newestFirst(files), skipped, nil
}

func newestFirst(files []File) []Session {
	var sessions []Session
	for _, f := range files {
		if f.PartOf != "" {
			continue
		}
		info, err := os.Stat(f.Path)
		if err != nil {
			continue
		}
		sessions = append(sessions, Session{f, modified(f, info), info.Size()})
	}
	slices.SortStableFunc(sessions, func(a, b Session) int {
		return cmp.Or(b.Modified.Compare(a.Modified), cmp.Compare(a.Path, b.Path))
	})
	return sessions
}

// modified is when a file last changed. What was written to a database lately
// may stand in a file beside it.
func modified(f File, info os.FileInfo) time.Time {
	newest := info.ModTime()
	if f.Format.Carrier == nil || !f.Format.Carrier(f.Path) {
		return newest
	}
	for _, path := range f.Format.Depends(f.Path) {
		if other, err := os.Stat(path); err == nil && other.ModTime().After(newest) {
			newest = other.ModTime()
		}
	}
	return newest
}

func nothingInstalled(absent []string) error {
	if len(absent) == 0 {
		return fmt.Errorf("%w on this machine: HOME is not set, so there is no folder to look in", ErrNothing)
	}
	return fmt.Errorf("%w on this machine: looked for %s", ErrNothing, strings.Join(absent, ", "))
}
