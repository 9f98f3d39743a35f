package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/fclog/fclog/internal/bug"
	"github.com/fclog/fclog/rollout/logfile"
)

// partName is the identity of what a session file and the files it is read with
// hold: 32 hex digits over their content, packed or not, the importer and what is
// done to texts. The same bytes under another name give the same part.
func partName(path string, depends []string, mode string) (string, error) {
	sum := sha256.New()
	fmt.Fprintf(sum, "fclog part, importer %s, text %s\n", Importer, mode)
	if err := addFile(sum, path); err != nil {
		return "", err
	}
	for _, d := range depends {
		err := addFile(sum, d)
		if errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintln(sum, "missing")
			continue
		}
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:16]), nil
}

// addFile adds the digest of a file's content, so that no two lists of files
// can run together to the same bytes.
func addFile(sum hash.Hash, path string) error {
	content := sha256.New()
	err := hashContent(content, path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		content.Reset()
		err = hashRaw(content, path)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(sum, "%x\n", content.Sum(nil))
	return nil
}

func hashContent(sum hash.Hash, path string) error {
	r, err := logfile.Content(path)
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = io.Copy(sum, r)
	return err
}

// hashRaw is for files that do not unpack: the reader will say what is wrong.
func hashRaw(sum hash.Hash, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(sum, f)
	return err
}

// monthOf is the partition of a part: the month its first session started.
func monthOf(rows *Rows) string {
	var first *int64
	for _, s := range rows.Sessions {
		if at := s.StartedAt; at != nil && (first == nil || *at < *first) {
			first = at
		}
	}
	if first == nil {
		return "unknown"
	}
	return time.UnixMilli(*first).UTC().Format("2006-01")
}

// place is where the files of a part or of several stand.
type place struct {
	source string
	month  string
	stem   string // file name without ".parquet": the part, or merged-…
}

// partition is the place without the name of the files.
func (p place) partition() place { return place{source: p.source, month: p.month} }

// placed says where the rows of a new part belong if it stands alone.
func placed(part string, rows *Rows) committed {
	first := rows.Sessions[0]
	c := committed{
		part: part, place: place{source: first.Source, month: monthOf(rows), stem: part},
		file: first.File, key: deref(first.FileKey), bytes: first.FileBytes, importer: first.Importer,
	}
	for _, s := range rows.Sessions {
		c.sessions = append(c.sessions, s.SessionID)
	}
	return c
}

func (s *store) path(table string, p place) string {
	return filepath.Join(s.dir, table, "source="+p.source, "month="+p.month, p.stem+".parquet")
}

// commit writes the tables of a place aside, then moves them there.
func (s *store) commit(p place, tables []table) error {
	tmp, err := s.tmp()
	if err != nil {
		return err
	}
	defer s.removeAll(tmp)
	aside := func(table string) string { return filepath.Join(tmp, table+".parquet") }
	if err := s.writeTables(tables, aside); err != nil {
		return err
	}
	return s.publish(p, aside)
}

// writeTables writes tables at the same time.
func (s *store) writeTables(tables []table, path func(table string) string) error {
	errs := make([]error, len(tables))
	var all sync.WaitGroup
	var panics bug.Carrier
	for i, t := range tables {
		all.Go(func() { panics.Do(func() { errs[i] = t.write(s.create, path(t.name)) }) })
	}
	all.Wait()
	panics.Drop()
	return errors.Join(errs...)
}

// publish moves files that were written aside to their place, sessions last. Before
// that last step no reader sees any of them, and after a power cut the sessions file
// is there only if the others are.
func (s *store) publish(p place, aside func(table string) string) error {
	var names, files, folders []string
	for _, name := range Tables() {
		if _, err := os.Stat(aside(name)); err == nil {
			names, files = append(names, name), append(files, aside(name))
		}
	}
	if err := s.syncFiles(files...); err != nil {
		return err
	}
	for i, name := range names {
		if i == len(names)-1 {
			s.syncFolders(folders...)
		}
		to := s.path(name, p)
		if err := s.move(files[i], to); err != nil {
			return err
		}
		folders = append(folders, filepath.Dir(to))
	}
	s.syncFolders(filepath.Dir(s.path("sessions", p)))
	return nil
}

// nonEmpty leaves out tables without rows: their place stays without a file.
func nonEmpty(all []table) []table {
	var out []table
	for _, t := range all {
		if t.rows > 0 {
			out = append(out, t)
		}
	}
	return out
}

// removeFiles takes a part's files away, sessions first: from then on no reader
// sees the rest.
func (s *store) removeFiles(p place) error {
	names := Tables()
	for i := len(names) - 1; i >= 0; i-- {
		if err := s.remove(s.path(names[i], p)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// WritePart commits one part whose rows are made already; its name is that of its
// first session row. The dataset is made if it does not exist.
func WritePart(dir string, rows *Rows) error {
	if len(rows.Sessions) == 0 {
		return errors.New("a part needs a session")
	}
	s, err := openStore(dir, Options{NoText: !rows.Sessions[0].HasText, Redact: Redacted(dir)})
	if err != nil {
		return err
	}
	defer s.close()
	return s.commit(placed(rows.Sessions[0].Part, rows).place, nonEmpty(rows.tables()))
}
