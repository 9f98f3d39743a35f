//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package dataset

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

const lockFile = stateFolder + "/lock"

// tryLock takes a lock that the kernel gives back when the process ends, however
// it ends. The file stays: removing it would let two processes hold locks on two
// files of one name. A file system without locks is used without one.
func (in inside) tryLock(shared bool) (unlock func(), state lockState, err error) {
	f, err := in.openFile(filepath.Join(in.dir, filepath.FromSlash(lockFile)), os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW)
	if err != nil {
		return nil, taken, err
	}
	state = held
	switch err := flock(f, shared); {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return nil, taken, f.Close()
	case errors.Is(err, errors.ErrUnsupported), errors.Is(err, syscall.ENOLCK):
		state = unlocked
	case err != nil:
		return nil, taken, errors.Join(err, f.Close())
	}
	signLock(f)
	return func() {
		f.Truncate(0)
		f.Close()
	}, state, nil
}

func flock(f *os.File, shared bool) error {
	how := syscall.LOCK_EX
	if shared {
		how = syscall.LOCK_SH
	}
	for {
		err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

func staleHint(string) string { return "" }
