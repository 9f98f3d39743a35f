package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/fclog/fclog/internal/bug"
)

// Kinds of faults in files.
const (
	FaultUnreadable = "unreadable" // cannot be opened or read
	FaultDamaged    = "damaged"    // cut off, or its bytes are not what was written
	FaultColumns    = "columns"    // whole, but not a file of its table
	FaultForeign    = "foreign"    // nothing that fclog puts there
	FaultLeftover   = "leftover"   // of a killed import; counts nowhere, harms nothing
)

// Fault is one thing that is wrong with the files of a dataset.
type Fault struct {
	Path   string // relative to the dataset, with slashes
	Kind   string
	Detail string
}

// StoredFile is one Parquet file with rows.
type StoredFile struct {
	Path  string // relative to the dataset, with slashes
	Table string
	Place string // what the files of one part or merge have in common: source=…/month=…/stem
	Rows  int64
	Bytes int64
}

// Inventory is what a look at every byte of a dataset found.
type Inventory struct {
	Text   bool         // the dataset was made to hold texts
	Files  []StoredFile // that are whole, in order of their paths
	Faults []Fault      // in order of their paths
}

// Inspect reads every file of the dataset in dir to its end. Pages are checked
// against the checksums that were written with them. Its error says that dir
// cannot be read as a dataset at all; whatever is wrong with single files is in
// the inventory. It takes no lock: what a running import is writing aside is
// reported as left over.
func Inspect(ctx context.Context, dir string) (*Inventory, error) {
	m, err := readMarker(dir)
	if err != nil {
		return nil, err
	}
	in := &inspector{dir: dir, tables: map[string]table{}, found: &Inventory{Text: m.Text}}
	for _, t := range append((&Rows{}).tables(), sideTables()...) {
		in.tables[t.name] = t
	}
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, walking error) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return in.visit(name, d, walking)
	})
	if err != nil {
		return nil, err
	}
	in.dropUncommitted()
	return in.found, nil
}

type inspector struct {
	dir    string
	tables map[string]table
	found  *Inventory
}

func (in *inspector) fault(name, kind, format string, args ...any) {
	in.found.Faults = append(in.found.Faults, Fault{Path: name, Kind: kind, Detail: fmt.Sprintf(format, args...)})
}

func (in *inspector) visit(file string, d fs.DirEntry, walking error) error {
	rel, err := filepath.Rel(in.dir, file)
	if err != nil {
		return err
	}
	name := filepath.ToSlash(rel)
	switch {
	case walking != nil:
		in.fault(name, FaultUnreadable, "%s", reason(walking))
		return fs.SkipDir
	case name == "." || name == stateFolder:
		return nil
	case d.IsDir():
		return in.folder(name)
	case name == markerFile || name == stateFile || name == lockFile:
		return nil
	case strings.HasPrefix(name, markerFile+".") || strings.HasPrefix(name, stateFile+"."):
		in.fault(name, FaultLeftover, "a killed import was writing it")
		return nil
	case isShardState(name):
		return nil
	case isShardLeftover(name):
		in.fault(name, FaultLeftover, "a killed import was writing it")
		return nil
	case strings.HasPrefix(name, stateFolder+"/"):
		in.fault(name, FaultForeign, "fclog puts no such file there")
		return nil
	}
	in.parquet(file, name)
	return nil
}

// folder looks at a folder by its name; what is in a foreign one is not listed.
func (in *inspector) folder(name string) error {
	steps := strings.Split(name, "/")
	_, known := in.tables[steps[0]]
	switch {
	case steps[0] == tmpFolder && len(steps) == 1:
		return nil
	case steps[0] == tmpFolder:
		in.fault(name, FaultLeftover, "a killed import was writing it, or one is running")
		return fs.SkipDir
	case !known || len(steps) > 3,
		len(steps) == 2 && !strings.HasPrefix(steps[1], "source="),
		len(steps) == 3 && !strings.HasPrefix(steps[2], "month="):
		in.fault(name, FaultForeign, "fclog makes no such folder")
		return fs.SkipDir
	}
	return nil
}

func (in *inspector) parquet(file, name string) {
	folder, base := path.Split(name)
	table, place, below := strings.Cut(strings.TrimSuffix(name, ".parquet"), "/")
	t, known := in.tables[table]
	if isSide(table) && leftAside(base) {
		in.fault(name, FaultLeftover, "it was being written, or is")
		return
	}
	if !known || !below || strings.Count(name, "/") != 3 || path.Ext(base) != ".parquet" {
		in.fault(name, FaultForeign, "fclog puts no such file there")
		return
	}
	f := StoredFile{Path: name, Table: table, Place: place}
	kind, err := f.read(file, t)
	switch {
	case err != nil:
		in.fault(name, kind, "%s", reason(err))
	case folder == path.Dir(emptyPath(t))+"/":
		if f.Rows > 0 || base != path.Base(emptyPath(t)) {
			in.fault(name, FaultForeign, "this folder is for one file without rows")
		}
	default:
		in.found.Files = append(in.found.Files, f)
	}
}

// reason is an error without the path, which is told already.
func reason(err error) string {
	var disk *fs.PathError
	if errors.As(err, &disk) {
		err = disk.Err
	}
	return err.Error()
}

// read reads a file to its end.
func (f *StoredFile) read(path string, t table) (kind string, err error) {
	file, err := openPlain(path)
	if errors.Is(err, ErrNotPlain) {
		return FaultForeign, errors.New("not a regular file")
	}
	if err != nil {
		return FaultUnreadable, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return FaultUnreadable, err
	}
	f.Bytes = info.Size()
	p, err := openParquet(file, f.Bytes)
	if err != nil {
		return FaultDamaged, fmt.Errorf("not a whole Parquet file: %w", err)
	}
	f.Rows = p.NumRows()
	have := columnsOf(p.Schema())
	for _, c := range t.columns[:2] { // part and session_id, but for outcomes
		if !slices.Contains(have, c) {
			return FaultColumns, fmt.Errorf("it has no column %s: not a file of table %s", c, t.name)
		}
	}
	if extra := slices.IndexFunc(have, func(c string) bool { return !slices.Contains(t.columns, c) }); extra >= 0 {
		return FaultColumns, fmt.Errorf("table %s has no column %q in this version of fclog", t.name, have[extra])
	}
	return FaultDamaged, readPages(p)
}

// openParquet and readPages turn a panic of the library on damaged bytes into an
// error.
func openParquet(r io.ReaderAt, size int64, options ...parquet.FileOption) (f *parquet.File, err error) {
	defer recovered(&err)
	return parquet.OpenFile(r, size, options...)
}

func readPages(f *parquet.File) (err error) {
	defer recovered(&err)
	for g, group := range f.RowGroups() {
		for _, column := range group.ColumnChunks() {
			if err := readColumn(column); err != nil {
				name := strings.Join(f.Schema().Columns()[column.Column()], ".")
				return fmt.Errorf("column %s of row group %d: %w", name, g+1, err)
			}
		}
	}
	return nil
}

func readColumn(column parquet.ColumnChunk) error {
	pages := column.Pages()
	defer pages.Close()
	var rows int64
	for {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		values := make([]parquet.Value, page.NumValues())
		n, err := page.Values().ReadValues(values)
		rows += int64(n)
		parquet.Release(page)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
	}
	if want := column.NumValues(); rows != want {
		return fmt.Errorf("%d of %d values are there", rows, want)
	}
	return nil
}

func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("broken: %s", bug.Of(p).What)
	}
}

// dropUncommitted moves files without a sessions file of their name from the
// files to the faults: a killed import left them.
func (in *inspector) dropUncommitted() {
	committed := map[string]bool{}
	for _, f := range in.found.Files {
		committed[f.Place] = committed[f.Place] || f.Table == "sessions"
	}
	for _, f := range in.found.Faults {
		if place, ok := strings.CutPrefix(f.Path, "sessions/"); ok {
			committed[strings.TrimSuffix(place, ".parquet")] = true // though it cannot be read
		}
	}
	in.found.Files = slices.DeleteFunc(in.found.Files, func(f StoredFile) bool {
		if isSide(f.Table) {
			return false
		}
		if !committed[f.Place] {
			in.fault(f.Path, FaultLeftover, "no sessions file of this name: a killed import left it, or the sessions file was lost")
		}
		return !committed[f.Place]
	})
	slices.SortStableFunc(in.found.Faults, func(a, b Fault) int { return strings.Compare(a.Path, b.Path) })
}
