package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// write sends a result to its file or to the standard output. A regular file
// appears only when it is whole; what was there before stays until then. Pipes
// and devices are written to as they are.
func (a *app) write(f outputFlags, do func(io.Writer) error) error {
	if f.file == "" || f.file == "-" {
		return a.show(f, do)
	}
	if out := a.stream(f.file); out != nil {
		return pour(out, f.file, do)
	}
	info, err := os.Stat(f.file)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return a.writeSpecial(f.file, do)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return writing(f.file, err)
	}
	return replaceFile(f.file, info, do)
}

// stream is what is open already under a name: the standard output and error, and
// the descriptors that shells pass on. Opening them anew would start at their
// beginning, over what was appended there.
func (a *app) stream(path string) io.Writer {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	for _, out := range []io.Writer{a.stdout, a.stderr} {
		if f, ok := out.(*os.File); ok {
			if open, err := f.Stat(); err == nil && os.SameFile(open, info) {
				return out
			}
		}
	}
	for _, folder := range []string{"/dev/fd/", "/proc/self/fd/"} {
		if number, ok := strings.CutPrefix(filepath.ToSlash(path), folder); ok {
			if n, err := strconv.ParseUint(number, 10, 31); err == nil {
				return os.NewFile(uintptr(n), path)
			}
		}
	}
	return nil
}

// writeSpecial writes into a pipe or device. Opening a pipe and writing to it wait
// for its reader, which a stopped program must not.
func (a *app) writeSpecial(path string, do func(io.Writer) error) error {
	type opened struct {
		file *os.File
		err  error
	}
	open := make(chan opened, 1)
	go func() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		open <- opened{f, err}
	}()
	var out opened
	select {
	case out = <-open:
	case <-a.stopped:
		return writing(path, errors.New("nobody reads it"))
	}
	if out.err != nil {
		return writing(path, out.err)
	}
	done := make(chan struct{})
	defer close(done)
	go func() {
		select {
		case <-a.stopped:
			out.file.Close() // ends a write that waits
		case <-done:
		}
	}()
	if err := pour(out.file, path, do); err != nil {
		out.file.Close()
		return err
	}
	return writing(path, out.file.Close())
}

// replaceFile writes a file aside and puts it in the place of path, or of what the
// link path leads to. Results hold text of logs: a new file is for its owner only,
// and one that was there keeps its mode. Its info is nil for a new file.
func replaceFile(path string, info fs.FileInfo, do func(io.Writer) error) (err error) {
	real := realTarget(path)
	if info != nil {
		if err := writable(real); err != nil {
			return writing(path, err)
		}
	}
	tmp, err := os.CreateTemp(filepath.Dir(real), ".fclog-*")
	if err != nil {
		return writing(path, err)
	}
	defer func() {
		if err != nil {
			tmp.Close()
			os.Remove(tmp.Name())
		}
	}()
	if err := pour(tmp, path, do); err != nil {
		return err
	}
	if info != nil {
		if err := tmp.Chmod(info.Mode().Perm()); err != nil {
			return writing(path, err)
		}
	}
	if err := tmp.Close(); err != nil {
		return writing(path, err)
	}
	return writing(path, os.Rename(tmp.Name(), real))
}

// writable refuses a file that is write-protected: a rename would not ask.
func writable(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

// maxLinks bounds how many links in a row are followed, as kernels do.
const maxLinks = 40

// realTarget follows links, also one that leads to what does not exist yet.
func realTarget(path string) string {
	for range maxLinks {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return real
		}
		dir, err := filepath.EvalSymlinks(filepath.Dir(path))
		if err != nil {
			return path
		}
		path = filepath.Join(dir, filepath.Base(path))
		link, err := os.Readlink(path)
		if err != nil {
			return path
		}
		if path = link; !filepath.IsAbs(link) {
			path = filepath.Join(dir, link)
		}
	}
	return path
}

// writing names what was written to in an error, in place of a temporary file.
func writing(name string, err error) error {
	var disk *fs.PathError
	var link *os.LinkError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &disk):
		err = disk.Err
	case errors.As(err, &link):
		err = link.Err
	}
	return fmt.Errorf("writing %s: %w", name, err)
}

// flushEvery is how long output may be held back while more of it is made.
const flushEvery = 200 * time.Millisecond

// steady holds output back only so long, so that a reader sees it come and a sink
// that fails is noticed while there is still work to save.
type steady struct {
	out  *bufio.Writer
	name string
	last time.Time
}

func (s *steady) Write(p []byte) (int, error) {
	n, err := s.out.Write(p)
	if err == nil && time.Since(s.last) > flushEvery {
		s.last = time.Now()
		err = s.out.Flush()
	}
	return n, writing(s.name, err)
}

// pour lets do write to a sink and tells write errors by its name.
func pour(sink io.Writer, name string, do func(io.Writer) error) error {
	out := &steady{out: bufio.NewWriterSize(sink, 64<<10), name: name, last: time.Now()}
	if err := do(out); err != nil {
		return err
	}
	return writing(name, out.out.Flush())
}
