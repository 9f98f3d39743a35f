package dataset

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fclog/fclog/internal/smallfile"
)

// lock makes sure that one process at a time writes the dataset. It does
// not wait: a second import would find most of its work done, or still running.
// Several shards can share it. Where they do, or the file system keeps no locks, sole
// is false.
func (in inside) lock(shared bool) (unlock func(), sole bool, err error) {
	path := filepath.Join(in.dir, filepath.FromSlash(lockFile))
	if err := in.makeFolder(filepath.Dir(path)); err != nil {
		return nil, false, err
	}
	unlock, state, err := in.tryLock(shared)
	if err != nil {
		return nil, false, fmt.Errorf("locking dataset %s: %w", in.dir, err)
	}
	if state == taken {
		return nil, false, fmt.Errorf("another fclog import is writing dataset %s (%s)%s", in.dir, holder(path), staleHint(path))
	}
	return unlock, state == held && !shared, nil
}

// lockState is what came of trying a lock.
type lockState int

const (
	taken    lockState = iota // by another process
	held                      // by this one
	unlocked                  // the file system keeps no locks
)

// signLock notes who holds a lock, for the message to others. The host is left
// out: a dataset may be handed on. That the note fails is no harm.
func signLock(f *os.File) {
	f.Truncate(0)
	f.WriteAt(fmt.Appendf(nil, "process %d, since %s\n", os.Getpid(), time.Now().UTC().Format(time.RFC3339)), 0)
}

func holder(path string) string {
	raw, err := smallfile.Read(path, 4<<10)
	if note := strings.TrimSpace(string(raw)); err == nil && note != "" {
		return note
	}
	return "process unknown"
}
