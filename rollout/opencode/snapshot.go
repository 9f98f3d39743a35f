package opencode

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/fclog/fclog/rollout/logfile"
)

// walSuffix names the write-ahead log beside a database, journalSuffix the
// rollback journal of one without.
const (
	walSuffix     = "-wal"
	journalSuffix = "-journal"
)

const (
	// tries bounds how often a copy is begun again because the database was
	// rearranged meanwhile.
	tries = 8
	// pause is the time before the next try; a checkpoint takes less.
	pause = 150 * time.Millisecond
	// walHeader is the length of the header of a write-ahead log. It holds the
	// salts, which change whenever the log starts anew.
	walHeader = 32
)

// errBusy says that a database did not rest long enough to be copied.
var errBusy = errors.New("the database is being rewritten; try again in a moment")

// snapshot copies a database and its write-ahead log into a new folder that only
// the user can enter, and returns the copy and a function that removes it.
//
// The agent may be running. Opening its database, even to read, would take locks
// and create or change files beside it. Plain copies do neither. The log is
// copied after the database: pages that a checkpoint moves from the log into the
// database meanwhile still stand in the log's copy, unless the log was started
// anew, which its header shows; then the copy is begun again. Frames appended
// meanwhile may be cut: SQLite ignores what is not committed whole.
func snapshot(ctx context.Context, path string) (copied string, remove func(), err error) {
	dir, err := os.MkdirTemp("", "fclog-")
	if err != nil {
		return "", nil, err
	}
	remove = func() { os.RemoveAll(dir) }
	copied = filepath.Join(dir, "opencode.db")
	for try := range tries {
		if try > 0 {
			select {
			case <-ctx.Done():
				remove()
				return "", nil, ctx.Err()
			case <-time.After(pause):
			}
		}
		var still bool
		if still, err = copyOnce(ctx, path, copied); err != nil || still {
			break
		}
		err = fmt.Errorf("%s: %w", path, errBusy)
	}
	if err != nil {
		remove()
		return "", nil, err
	}
	return copied, remove, nil
}

// copyOnce copies the files of a database; false when they do not fit together.
func copyOnce(ctx context.Context, path, to string) (still bool, err error) {
	before, err := stateOf(path)
	if err != nil {
		return false, err
	}
	if before.journal {
		return false, nil
	}
	if err := copyFile(ctx, path, to); err != nil {
		return false, err
	}
	if err := copyFile(ctx, path+walSuffix, to+walSuffix); errors.Is(err, os.ErrNotExist) {
		os.Remove(to + walSuffix)
	} else if err != nil {
		return false, err
	}
	after, err := stateOf(path)
	return err == nil && before.fits(after), err
}

// state is what tells whether a database was rearranged.
type state struct {
	size     int64
	modified time.Time
	wal      []byte // header of the write-ahead log; empty without one
	journal  bool   // a transaction is under way that changes the database itself
}

func stateOf(path string) (state, error) {
	info, err := os.Stat(path)
	if err != nil {
		return state{}, err
	}
	s := state{size: info.Size(), modified: info.ModTime()}
	if s.wal, err = head(path+walSuffix, walHeader); err != nil && !errors.Is(err, os.ErrNotExist) {
		return state{}, err
	}
	if j, err := os.Stat(path + journalSuffix); err == nil && j.Size() > 0 {
		s.journal = len(s.wal) == 0
	}
	return s, nil
}

// fits reports whether what was copied between two states is one state of the
// database. With the same log all the time, it does not matter what a checkpoint
// wrote meanwhile.
func (s state) fits(later state) bool {
	if later.journal || !bytes.Equal(s.wal, later.wal) {
		return false
	}
	return len(s.wal) == walHeader || s.size == later.size && s.modified.Equal(later.modified)
}

// openRegular opens a file that is one: a pipe would keep the open itself waiting.
func openRegular(path string) (*os.File, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w: not a regular file", path, logfile.ErrNotLog)
	}
	return os.Open(path)
}

// head is the first bytes of a file, fewer if it has no more.
func head(path string, n int) ([]byte, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	buf := make([]byte, n)
	got, err := io.ReadFull(f, buf)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return buf[:got], err
}

// copyBlock is how much is copied between looks at the context.
const copyBlock = 4 << 20

func copyFile(ctx context.Context, from, to string) error {
	in, err := openRegular(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	for err == nil && ctx.Err() == nil {
		_, err = io.CopyN(out, in, copyBlock)
	}
	if err == io.EOF {
		err = nil
	}
	return errors.Join(err, ctx.Err(), out.Close())
}
