package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fclog/fclog/internal/redact"
	"github.com/fclog/fclog/internal/shard"
	"github.com/fclog/fclog/internal/smallfile"
)

// SchemaVersion is the version of the tables. Columns are added, never renamed.
const SchemaVersion = 1

// Importer stands in every sessions row and in the name of every part, so that
// files are read again when reading changes.
const Importer = "7"

const (
	markerFile  = "fclog-dataset.json"
	tmpFolder   = "_tmp"
	stateFolder = "_state"
	stateFile   = stateFolder + "/files.json"
)

// The most that is read of what a dataset notes, in bytes: many times what fclog
// writes, as whoever handed the dataset on may have put anything there.
const (
	maxMarker = 1 << 20
	maxState  = 1 << 30 // some hundred bytes a log
)

// marker tells a dataset from any other folder.
type marker struct {
	SchemaVersion int  `json:"schema_version"`
	Text          bool `json:"text"`               // false: made with --no-text, holds no text at all
	Redacted      bool `json:"redacted,omitempty"` // made with --redact
}

// store is a dataset opened for writing.
type store struct {
	inside
	text    bool
	redact  bool
	scratch bool // thrown away soon: not forced to disk
	shard   shard.Shard
	sole    bool // no other process can be writing
	create  creator
	limits  limits
	close   func() // gives the lock back

	rewriting sync.Mutex // sessions files of places that several parts stand in
}

// Is reports whether dir holds a dataset.
func Is(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, markerFile))
	return err == nil && info.Mode().IsRegular()
}

// Check reports why dir cannot be read as a dataset, nil if it can.
func Check(dir string) error {
	_, err := readMarker(dir)
	return err
}

// Redacted reports whether dir holds a dataset made with secrets redacted.
func Redacted(dir string) bool {
	m, err := readMarker(dir)
	return err == nil && m.Redacted
}

// mode says what is done to texts, as part names hold it.
func (s *store) mode() string {
	mode := strconv.FormatBool(s.text)
	if s.redact {
		mode += ", redacted by rules " + redact.Version
	}
	return mode
}

func readMarker(dir string) (marker, error) {
	var m marker
	raw, err := smallfile.Read(filepath.Join(dir, markerFile), maxMarker)
	if errors.Is(err, fs.ErrNotExist) {
		return m, fmt.Errorf("%s is not an fclog dataset (no %s in it)", dir, markerFile)
	}
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(raw, &m); err != nil || m.SchemaVersion < 1 {
		return m, fmt.Errorf("%s: not a dataset marker", filepath.Join(dir, markerFile))
	}
	if m.SchemaVersion > SchemaVersion {
		return m, fmt.Errorf("dataset %s has schema version %d; this fclog reads up to version %d: a newer fclog is needed", dir, m.SchemaVersion, SchemaVersion)
	}
	return m, nil
}

// openStore opens the dataset in dir for writing, or makes one if dir is empty or
// missing. Until it is closed nobody else can; other shards can where it is one.
func openStore(dir string, o Options) (*store, error) {
	if err := makeFolder(dir); err != nil {
		return nil, err
	}
	if err := checkPlain(dir); err != nil {
		return nil, err
	}
	in, err := openInside(dir)
	if err != nil {
		return nil, err
	}
	unlock, sole, err := in.lock(!o.Shard.None())
	if err != nil {
		in.root.Close()
		return nil, err
	}
	s := &store{inside: in, text: !o.NoText, redact: o.Redact, scratch: o.Scratch, shard: o.Shard, sole: sole, create: o.create, limits: o.limits, close: func() {
		unlock()
		in.root.Close()
	}}
	if s.create == nil {
		s.create = in.create
	}
	if s.limits == (limits{}) {
		s.limits = usual
	}
	if err := s.open(); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *store) open() error {
	if !Is(s.dir) {
		if err := s.init(); err != nil || s.shard.None() {
			return err
		}
	}
	m, err := readMarker(s.dir)
	if err != nil {
		return err
	}
	switch {
	case m.Text && !s.text:
		return fmt.Errorf("dataset %s holds texts: an import without texts needs a dataset of its own", s.dir)
	case !m.Text && s.text:
		return fmt.Errorf("dataset %s was made without texts: import into it without texts, or into another one", s.dir)
	}
	switch {
	case m.Redacted && !s.redact:
		return fmt.Errorf("dataset %s was made with secrets redacted: import into it with --redact, or into another one", s.dir)
	case !m.Redacted && s.redact:
		return fmt.Errorf("dataset %s holds texts as they are: an import with --redact needs a dataset of its own", s.dir)
	}
	if !s.shard.None() {
		s.dropOwnLeftovers()
		return s.emptyTables()
	}
	s.sole = s.sole && !s.shardsAtWork()
	s.dropLeftovers()
	if s.sole {
		if err := s.dropOrphans(); err != nil {
			return err
		}
	}
	return s.emptyTables()
}

// leftoverAge is how long an import may take where the file system keeps no locks
// before its files aside are taken for those of a killed one.
const leftoverAge = 24 * time.Hour

// dropLeftovers removes what killed imports left aside. Whoever holds the lock is
// the only writer: nothing aside is in use. Failing to is no harm.
func (s *store) dropLeftovers() {
	for _, pattern := range []string{tmpFolder + "/*", markerFile + ".*", stateFile + ".*"} {
		folder, name := filepath.Split(filepath.Join(s.dir, filepath.FromSlash(pattern)))
		entries, err := os.ReadDir(folder)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if left, _ := filepath.Match(name, e.Name()); !left {
				continue
			}
			if info, err := e.Info(); s.sole || err == nil && time.Since(info.ModTime()) > leftoverAge {
				s.removeAll(filepath.Join(folder, e.Name()))
			}
		}
	}
}

// makeFolder makes the folder of a new dataset. One that holds files but no marker
// is somebody else's, unless the files are what an import puts there before it.
func makeFolder(dir string) error {
	if Is(dir) {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	foreign := func(e fs.DirEntry) bool { return e.Name() != stateFolder && !strings.HasPrefix(e.Name(), markerFile) }
	// Another import may have made the dataset since it was looked for.
	if slices.ContainsFunc(entries, foreign) && !Is(dir) {
		return fmt.Errorf("%s is neither empty nor an fclog dataset (no %s in it)", dir, markerFile)
	}
	return os.MkdirAll(dir, 0o700)
}

// init makes a new dataset.
func (s *store) init() error {
	raw, err := json.Marshal(marker{SchemaVersion: SchemaVersion, Text: s.text, Redacted: s.redact})
	if err != nil {
		return err
	}
	raw = append(raw, '\n')
	if !s.shard.None() {
		return s.makeMarker(raw)
	}
	s.dropLeftovers() // of an import that was killed while it wrote the marker
	if err := s.replaceFile(filepath.Join(s.dir, markerFile), raw); err != nil {
		return err
	}
	return s.emptyTables()
}

// emptyTables gives every table one file without rows, so that a reader's globs
// match and columns have types before anything is imported, also those that an
// older version did not write.
func (s *store) emptyTables() error {
	for _, t := range (&Rows{}).tables() {
		path := emptyFile(s.dir, t)
		if t.hasColumns(path) {
			continue
		}
		if err := s.put(path, func(tmp string) error { return t.write(s.create, tmp) }); err != nil {
			return err
		}
	}
	return nil
}

func emptyFile(dir string, t table) string {
	return filepath.Join(dir, filepath.FromSlash(emptyPath(t)))
}

func emptyPath(t table) string { return t.name + "/source=none/month=none/empty.parquet" }

// Complete makes the dataset in dir readable with all columns of this version
// without writing to it. Where an older version wrote it, files without rows for
// every table are put below aside, to be read together with the dataset's own; it
// says whether they are needed.
func Complete(dir, aside string) (bool, error) {
	lacks := func(t table) bool { return !t.hasColumns(emptyFile(dir, t)) }
	if !slices.ContainsFunc((&Rows{}).tables(), lacks) {
		return false, nil
	}
	return true, WriteEmpty(aside)
}

// WriteEmpty puts files without rows for every table below dir, which need not be
// a dataset.
func WriteEmpty(dir string) error {
	for _, t := range (&Rows{}).tables() {
		path := emptyFile(dir, t)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := t.write(createFile, path); err != nil {
			return err
		}
	}
	return nil
}

// put writes one file aside and moves it to its place. A power cut may undo the
// move, but leaves no half of a file.
func (s *store) put(path string, write func(tmp string) error) error {
	tmp, err := s.tmp()
	if err != nil {
		return err
	}
	defer s.removeAll(tmp)
	aside := filepath.Join(tmp, filepath.Base(path))
	if err := write(aside); err != nil {
		return err
	}
	if err := s.syncFiles(aside); err != nil {
		return err
	}
	return s.move(aside, path)
}

func (s *store) tmp() (string, error) {
	root := filepath.Join(s.dir, tmpFolder)
	if err := s.makeFolder(root); err != nil {
		return "", err
	}
	if !s.shard.None() {
		return s.newFolder(root, shardLabel(s.shard)+"-")
	}
	return s.newFolder(root, strconv.Itoa(os.Getpid())+"-")
}

// replaceFile writes a small file so that a reader sees the old or the new one.
func (s *store) replaceFile(path string, content []byte) error {
	if err := s.makeFolder(filepath.Dir(path)); err != nil {
		return err
	}
	f, aside, err := s.newFile(filepath.Dir(path), filepath.Base(path)+".", "")
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil && !s.scratch {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = s.move(aside, path)
	}
	if err != nil {
		s.remove(aside)
		return fmt.Errorf("writing %s: %w", path, err)
	}
	s.syncFolders(filepath.Dir(path))
	return nil
}
