package analyze

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/duckdb/duckdb-go/v2"

	"github.com/fclog/fclog/analyze/dataset"
)

//go:embed sql/verify/*.sql
var verifyFiles embed.FS

// Verification is what a check of a whole dataset found. It holds no text of logs
// but the IDs of sessions.
type Verification struct {
	SchemaVersion int        `json:"schema_version"`
	Dataset       string     `json:"dataset"`
	Sound         bool       `json:"sound"` // no finding is an error
	Text          bool       `json:"text"`  // the dataset holds texts
	Files         int64      `json:"files"` // Parquet files with rows that are whole
	Bytes         int64      `json:"bytes"` // of those
	Parts         int64      `json:"parts"`
	Sessions      int64      `json:"sessions"`
	Importers     []string   `json:"importers"` // versions that wrote parts, oldest first
	Checks        []Verified `json:"checks"`
	Findings      []Finding  `json:"findings"` // at most MaxFindings of each check
}

// Verified is one check and its result.
type Verified struct {
	Name     string `json:"name"` // stable
	Title    string `json:"title"`
	Findings int64  `json:"findings"` // of which a finding list may show fewer
}

// Finding is one thing that is wrong, in one file.
type Finding struct {
	Check     string  `json:"check"`
	Level     string  `json:"level"` // error; note: harmless
	File      string  `json:"file"`  // relative to the dataset
	SessionID *string `json:"session_id"`
	Detail    string  `json:"detail"`
	Count     int64   `json:"count"` // rows it is about
	Do        string  `json:"do"`
}

// MaxFindings is how many findings of a check are listed; all are counted.
const MaxFindings = 20

// Levels of findings.
const (
	FindingError = "error"
	FindingNote  = "note"
)

// Verify checks a dataset: every file to its last byte, then with SQL every
// reference, sum and hash. Rows of a part that has a damaged file are not looked
// at further: everything that refers into that file would be reported too. The
// error says that there is no dataset that could be checked, or none that stays as
// it is for long enough.
func Verify(ctx context.Context, dir string) (*Verification, error) {
	var out *Verification
	err := steadily(ctx, dir, func() (err error) {
		out, err = verifyOnce(ctx, dir)
		return err
	})
	if errors.Is(err, errUnsteady) {
		err = fmt.Errorf("checking dataset %s: %w", dir, err)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

func verifyOnce(ctx context.Context, dir string) (*Verification, error) {
	found, err := dataset.Inspect(ctx, dir)
	if err != nil {
		return nil, err
	}
	v := &verifier{dir: dir, found: found, out: &Verification{
		SchemaVersion: SchemaVersion, Dataset: dir, Sound: true, Text: found.Text, Importers: []string{}, Checks: []Verified{}, Findings: []Finding{},
	}}
	tmp, err := os.MkdirTemp("", "fclog-sql-")
	if err != nil {
		return nil, err
	}
	v.db = &DB{tmp: tmp}
	defer v.db.Close()
	for _, step := range []func(context.Context) error{v.connect, v.decode, v.files, v.open, v.count, v.rows} {
		if err := step(ctx); err != nil {
			return nil, fmt.Errorf("checking dataset %s: %w", dir, err)
		}
	}
	return v.out, nil
}

type verifier struct {
	dir   string
	found *dataset.Inventory
	out   *Verification
	db    *DB
	aside string // folder of files without rows
	check *Verified
}

// begin starts a check; what is added from then on is found by it.
func (v *verifier) begin(name, title string) {
	v.out.Checks = append(v.out.Checks, Verified{Name: name, Title: title})
	v.check = &v.out.Checks[len(v.out.Checks)-1]
}

func (v *verifier) add(f Finding) {
	f.Check = v.check.Name
	if f.Level == FindingError {
		v.out.Sound = false
	}
	if v.check.Findings++; v.check.Findings <= MaxFindings {
		v.out.Findings = append(v.out.Findings, f)
	}
}

// remedies say what to do about faults of files.
var remedies = map[string]string{
	dataset.FaultUnreadable: "make it readable for you, then check again",
	dataset.FaultDamaged:    "restore it from a copy, or remove the files of this name in all tables and import the log again",
	dataset.FaultColumns:    "restore it from a copy, or remove the files of this name in all tables and import the log again",
	dataset.FaultForeign:    "move it out of the dataset; fclog does not read it",
	dataset.FaultLeftover:   "nothing; the next import or 'fclog import --compact' clears it away",
}

func (v *verifier) files(context.Context) error {
	v.begin("files", "Every file is whole")
	for _, f := range v.found.Files {
		v.out.Files++
		v.out.Bytes += f.Bytes
	}
	for _, f := range v.found.Faults {
		level := FindingError
		if f.Kind == dataset.FaultLeftover {
			level = FindingNote
		}
		v.add(Finding{Level: level, File: f.Path, Detail: f.Detail, Count: 1, Do: remedy(f)})
	}
	return nil
}

// remedy is easier for what fclog worked out itself than for what came from logs.
func remedy(f dataset.Fault) string {
	broken := f.Kind == dataset.FaultDamaged || f.Kind == dataset.FaultColumns
	switch table, _, _ := strings.Cut(filepath.ToSlash(f.Path), "/"); {
	case broken && table == "estimates":
		return "remove it: 'fclog replay' works those estimates out again"
	case broken && table == "outcomes":
		return "restore it from a copy, or remove it and run 'fclog compare --save' again"
	}
	return remedies[f.Kind]
}

// rows runs the checks in SQL.
func (v *verifier) rows(ctx context.Context) error {
	names, err := fs.Glob(verifyFiles, "sql/verify/*.sql")
	if err != nil {
		return err
	}
	for _, name := range names {
		text, err := verifyFiles.ReadFile(name)
		if err != nil {
			return err
		}
		if err := v.run(ctx, parseQuestion(strings.TrimSuffix(filepath.Base(name), ".sql"), string(text))); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// connect opens a database that sees the dataset and, for types of columns, a file
// without rows of every table.
func (v *verifier) connect(ctx context.Context) error {
	if err := v.db.connect(ctx, v.dir); err != nil {
		return err
	}
	v.aside = filepath.Join(v.db.tmp, "tables")
	if err := dataset.WriteEmpty(v.aside); err != nil {
		return err
	}
	return v.db.exec(ctx, settings(Options{}, v.db.root, v.db.tmp, v.aside)...)
}

// decode reads every value once more with DuckDB, which questions are asked with:
// it notices damage to the descriptions of pages that their checksums do not cover.
func (v *verifier) decode(ctx context.Context) error {
	for table, files := range v.wholeParts() {
		if v.readable(ctx, files...) == nil {
			continue
		}
		for _, f := range v.found.Files {
			if f.Table != table {
				continue
			}
			if err := v.readable(ctx, v.pattern(f)); err != nil {
				v.found.Faults = append(v.found.Faults, dataset.Fault{Path: f.Path, Kind: dataset.FaultDamaged, Detail: "its values cannot be read"})
			}
		}
	}
	v.found.Files = slices.DeleteFunc(v.found.Files, func(f dataset.StoredFile) bool {
		return slices.ContainsFunc(v.found.Faults, func(x dataset.Fault) bool { return x.Path == f.Path })
	})
	return ctx.Err()
}

func (v *verifier) readable(ctx context.Context, files ...string) error {
	return v.db.exec(ctx, fmt.Sprintf("SELECT bit_xor(hash(x)) FROM read_parquet([%s], hive_partitioning = false, union_by_name = true) x", strings.Join(files, ", ")))
}

// open makes a view of every table over the whole files of whole parts. place ties
// the files of a part together.
func (v *verifier) open(ctx context.Context) error {
	if err := v.db.exec(ctx, fmt.Sprintf("SET VARIABLE with_text = %t", v.found.Text)); err != nil {
		return err
	}
	for table, files := range v.wholeParts() {
		if err := v.db.exec(ctx, verifyView(table, files)); err != nil {
			return fmt.Errorf("table %s: %w", table, err)
		}
	}
	return v.db.seal(ctx)
}

// pattern is a stored file as DuckDB takes it.
func (v *verifier) pattern(f dataset.StoredFile) string {
	return quote(filepath.ToSlash(escapeGlob(v.db.root)) + "/" + escapeGlob(f.Path))
}

// wholeParts lists the files to read by table, the one without rows first.
func (v *verifier) wholeParts() map[string][]string {
	broken := map[string]bool{}
	for _, f := range v.found.Faults {
		_, place, _ := strings.Cut(strings.TrimSuffix(f.Path, ".parquet"), "/")
		broken[place] = true
	}
	files := map[string][]string{}
	for _, table := range dataset.Tables() {
		files[table] = []string{quote(glob(v.aside, table))}
	}
	for _, f := range v.found.Files {
		if !broken[f.Place] {
			files[f.Table] = append(files[f.Table], v.pattern(f))
		}
	}
	return files
}

func verifyView(table string, files []string) string {
	rename := ""
	if table == "sessions" || table == "problems" {
		rename = " RENAME (file AS log_file)"
	}
	return fmt.Sprintf(`CREATE VIEW %s AS
WITH whole AS (
  FROM read_parquet([%s], hive_partitioning = false, union_by_name = true, filename = true)
)
SELECT * EXCLUDE (filename)%s, regexp_extract(replace(filename, '\', '/'), '[^/]+/[^/]+/[^/]+/[^/]+$') AS file,
       regexp_extract(replace(filename, '\', '/'), '([^/]+/[^/]+/[^/]+)[.]parquet$', 1) AS place
FROM whole`, table, strings.Join(files, ", "), rename)
}

func (v *verifier) count(ctx context.Context) error {
	var importers duckdb.Composite[[]string]
	err := v.db.conn.QueryRowContext(ctx, "SELECT count(DISTINCT part), count(*), coalesce(list(DISTINCT importer), []) FROM sessions").
		Scan(&v.out.Parts, &v.out.Sessions, &importers)
	v.out.Importers = append(v.out.Importers, importers.Get()...)
	slices.SortFunc(v.out.Importers, func(a, b string) int { return cmp.Or(len(a)-len(b), cmp.Compare(a, b)) })
	return err
}

// run adds what a check finds. Its file says what to do in a line of its own.
func (v *verifier) run(ctx context.Context, q Question) error {
	v.begin(q.Name, q.Title)
	_, do, _ := strings.Cut(q.Doc, "Do: ")
	rows, err := v.db.conn.QueryContext(ctx, "SELECT * FROM ("+q.SQL+") ORDER BY file, session_id, detail")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		f := Finding{Level: FindingError, Do: do}
		if err := rows.Scan(&f.File, &f.SessionID, &f.Detail, &f.Count); err != nil {
			return err
		}
		v.add(f)
	}
	return rows.Err()
}
