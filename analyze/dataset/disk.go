package dataset

import (
	"errors"
	"io"
	"os"
	"sync"
)

// A part is forced to disk before it counts: its files before they are moved to
// their places, the folders of the other tables before the sessions file is moved.
// On Linux (ext4, 0.3 ms a file) that costs 7 to 10 % of an import. A new folder's
// own entry is left to the journal of the file system. Scratch datasets go without.

// createFile is the creator outside datasets: a new file only its owner can read.
func createFile(path string) (io.WriteCloser, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
}

// syncFiles forces files to disk, all at once: a disk joins what comes together.
func (s *store) syncFiles(paths ...string) error {
	if s.scratch {
		return nil
	}
	errs := make([]error, len(paths))
	var all sync.WaitGroup
	for i, path := range paths {
		all.Go(func() { errs[i] = s.sync(path) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// syncFolders makes what was moved into folders last. Not every system can sync
// them; there renames last when the system gets to it.
func (s *store) syncFolders(dirs ...string) {
	if s.scratch {
		return
	}
	var all sync.WaitGroup
	for _, dir := range dirs {
		all.Go(func() {
			if f, err := os.Open(dir); err == nil {
				f.Sync()
				f.Close()
			}
		})
	}
	all.Wait()
}
