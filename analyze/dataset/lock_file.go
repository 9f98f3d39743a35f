//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd)

package dataset

import (
	"errors"
	"io/fs"
	"os"
)

// lockFile is another one than where the kernel keeps locks: there it stays.
const lockFile = stateFolder + "/writing"

// tryLock takes the lock by making its file. A killed process leaves it behind.
// Shards leave it alone and only look whether somebody has it.
func (in inside) tryLock(shared bool) (unlock func(), state lockState, err error) {
	if _, err := in.root.Stat(lockFile); shared && errors.Is(err, fs.ErrNotExist) {
		return func() {}, unlocked, nil
	}
	f, err := in.root.OpenFile(lockFile, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, taken, nil
	}
	if err != nil {
		return nil, taken, err
	}
	signLock(f)
	return func() {
		f.Close()
		in.root.Remove(lockFile)
	}, held, nil
}

func staleHint(path string) string { return "; if none is running, remove " + path }
