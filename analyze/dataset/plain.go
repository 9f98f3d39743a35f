package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ErrNotPlain refuses to write a dataset in which something else stands where it keeps
// folders and files.
var ErrNotPlain = errors.New("a dataset holds plain folders and files only")

// checkPlain looks at everything that a dataset keeps in dir. Whoever handed it on may
// have put a link where an import clears away or writes over, and so beyond dir, or a
// pipe, at which reading would wait for ever. dir itself may be a link, and what is no
// part of a dataset may be anything.
func checkPlain(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return ignoreMissing(err)
	}
	for _, e := range entries {
		if !isOwn(e.Name()) {
			continue
		}
		if err := filepath.WalkDir(filepath.Join(dir, e.Name()), plain); err != nil {
			return err
		}
	}
	return nil
}

func plain(path string, d fs.DirEntry, err error) error {
	if err != nil {
		return ignoreMissing(err) // another shard took it away
	}
	if d.IsDir() || d.Type().IsRegular() {
		return nil
	}
	what := "neither folder nor file"
	if d.Type()&fs.ModeSymlink != 0 {
		what = "a link"
	}
	return fmt.Errorf("%s is %s: %w; remove it, or write another dataset", path, what, ErrNotPlain)
}

// openPlain opens a file to read it. What is no regular file is ErrNotPlain, and not even
// opened: a pipe without a writer would wait for ever.
func openPlain(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is neither folder nor file: %w", path, ErrNotPlain)
	}
	return os.Open(path)
}

// makePlain makes a folder below dir, by the names of the folders on the way.
func makePlain(dir string, names ...string) error {
	for _, name := range names {
		dir = filepath.Join(dir, name)
		if info, err := os.Lstat(dir); err == nil {
			if err := plain(dir, fs.FileInfoToDirEntry(info), nil); err != nil {
				return err
			}
		}
	}
	return os.MkdirAll(dir, 0o700)
}

// isOwn says whether a name in the folder of a dataset is one that datasets use.
func isOwn(name string) bool {
	own := slices.Concat([]string{tmpFolder, stateFolder}, Tables(), SideTables())
	return slices.Contains(own, name) || strings.HasPrefix(name, markerFile)
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
