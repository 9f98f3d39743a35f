package dataset

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// inside changes what is in the folder of a dataset. Where somebody put a link that
// leads out of it, be it while an import runs, its methods fail: checkPlain tells of
// links that are there before, with what to do.
type inside struct {
	dir  string
	root *os.Root
}

func openInside(dir string) (inside, error) {
	root, err := os.OpenRoot(dir)
	return inside{dir, root}, err
}

// name is a path below the folder as the root wants it.
func (in inside) name(path string) string {
	rel, err := filepath.Rel(in.dir, path)
	if err != nil {
		return path
	}
	return rel
}

// named gives an error the path of what it is about, of which the root knows a part.
func (in inside) named(err error) error {
	var one *fs.PathError
	if errors.As(err, &one) && !filepath.IsAbs(one.Path) {
		one.Path = filepath.Join(in.dir, one.Path)
	}
	var two *os.LinkError
	if errors.As(err, &two) && !filepath.IsAbs(two.New) {
		two.Old, two.New = filepath.Join(in.dir, two.Old), filepath.Join(in.dir, two.New)
	}
	return err
}

// openFile is os.OpenFile, with files that only their owner can read.
func (in inside) openFile(path string, flags int) (*os.File, error) {
	f, err := in.root.OpenFile(in.name(path), flags, 0o600)
	return f, in.named(err)
}

// create opens a new file that only its owner can read.
func (in inside) create(path string) (io.WriteCloser, error) {
	return in.openFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC)
}

func (in inside) makeFolder(path string) error {
	return in.named(in.root.MkdirAll(in.name(path), 0o700))
}

func (in inside) remove(path string) error { return in.named(in.root.Remove(in.name(path))) }

func (in inside) removeAll(path string) error {
	return in.named(in.root.RemoveAll(in.name(path)))
}

// move puts a file in its place, whose folder is made.
func (in inside) move(from, to string) error {
	if err := in.makeFolder(filepath.Dir(to)); err != nil {
		return err
	}
	return in.named(in.root.Rename(in.name(from), in.name(to)))
}

// sync forces a file to disk.
func (in inside) sync(path string) error {
	f, err := in.openFile(path, os.O_WRONLY) // not every system syncs what is open for reading
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// newFolder makes a folder of a name that nobody else uses, in one that exists.
func (in inside) newFolder(parent, prefix string) (string, error) {
	var path string
	err := unused(func(n uint64) error {
		path = filepath.Join(parent, fmt.Sprint(prefix, n))
		return in.named(in.root.Mkdir(in.name(path), 0o700))
	})
	return path, err
}

// newFile makes a file of a name that nobody else uses, in a folder that exists.
func (in inside) newFile(parent, prefix, suffix string) (f *os.File, path string, err error) {
	err = unused(func(n uint64) error {
		path = filepath.Join(parent, fmt.Sprint(prefix, n, suffix))
		f, err = in.openFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY)
		return err
	})
	return f, path, err
}

// unused calls make with numbers until the name made of one is free.
func unused(make func(n uint64) error) error {
	var err error
	for range 100 {
		if err = make(rand.Uint64()); !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return err
}
