package analyze

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fclog/fclog/analyze/dataset"
	"github.com/fclog/fclog/rollout"
)

//go:embed sql/fleet/*.sql
var fleetFiles embed.FS

// Fleet gives the selected sessions of a dataset one after the other, however many
// there are: what it holds in memory are their names.
type Fleet struct {
	db         *DB
	Population int64 // sessions that were selected before a sample was drawn
}

// FleetSession is one selected session and where its rows stand.
type FleetSession struct {
	Source  string
	Month   string
	Part    string
	ID      string
	Version string // of the agent; "" unknown
	Model   string // that answered most; "" unknown
	Root    string // ID of the session that started it, over any number of steps; its own where none did
	File    string // log it was imported from
	Bytes   int64  // size of that

	stem string
}

// fleetMemoryMB is what DuckDB may use: tables of names, and the rows of a few
// sessions at a time.
const fleetMemoryMB = 1024

// OpenFleet opens the selected sessions of a dataset to be read one by one.
func OpenFleet(ctx context.Context, o Options) (*Fleet, error) {
	if err := dataset.Check(o.Dataset); err != nil {
		return nil, err
	}
	tmp, err := os.MkdirTemp("", "fclog-sql-")
	if err != nil {
		return nil, err
	}
	if o.MemoryMB == 0 {
		o.MemoryMB = fleetMemoryMB
	}
	f := &Fleet{db: &DB{tmp: tmp}}
	if err := f.open(ctx, o); err != nil {
		f.Close()
		return nil, openingError(o.Dataset, err)
	}
	return f, nil
}

func (f *Fleet) open(ctx context.Context, o Options) error {
	d := f.db
	if err := d.connect(ctx, o.Dataset); err != nil {
		return err
	}
	if err := os.MkdirAll(f.Aside(), 0o700); err != nil {
		return err
	}
	steps := []func() error{
		d.complete,
		func() error { return d.exec(ctx, settings(o, d.root, d.tmp, filepath.Join(d.tmp, "tables"))...) },
		func() error { return d.exec(ctx, d.rawViews()...) },
		func() error { return d.checkWhere(ctx, o.Selection.Where) },
		func() error {
			return d.exec(ctx, "CREATE TABLE selected (source VARCHAR, stem VARCHAR, part VARCHAR, session_id VARCHAR)")
		},
		func() error { return d.setUpNames(ctx, o.Selection) },
		func() error { return d.seal(ctx) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return d.conn.QueryRowContext(ctx, "SELECT sessions FROM population").Scan(&f.Population)
}

// setUpNames is setUp but for the tables that hold the content of sessions.
func (d *DB) setUpNames(ctx context.Context, sel Selection) error {
	numbers, err := setUpFiles()
	if err != nil {
		return err
	}
	for _, name := range slices.Concat(numbers[:3]...) {
		if err := d.runFile(ctx, d.conn, name, sel); err != nil {
			return err
		}
	}
	if err := d.choose(ctx, sel); err != nil {
		return err
	}
	return d.makeSide(ctx)
}

// Close releases the database and its temporary files.
func (f *Fleet) Close() error { return f.db.Close() }

// Aside is a folder for estimates that are not to be kept: they are there until
// Close, and found as if they stood in the dataset.
func (f *Fleet) Aside() string { return filepath.Join(f.db.tmp, "tables") }

// Sessions lists the selected sessions by the files they stand in.
func (f *Fleet) Sessions(ctx context.Context) ([]FleetSession, error) {
	rows, err := f.ask(ctx, "sessions")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []FleetSession
	for rows.Next() {
		var s FleetSession
		if err := rows.Scan(&s.Source, &s.Month, &s.stem, &s.Part, &s.ID, &s.Bytes, &s.Version, &s.Model, &s.Root, &s.File); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, rows.Err()
}

// Batches divides sessions in order, each batch of one source and month, of at most
// so many sessions and, unless it is one session, so many bytes of logs.
func Batches(sessions []FleetSession, most int, bytes int64) [][]FleetSession {
	var out [][]FleetSession
	for len(sessions) > 0 {
		n, size := 1, sessions[0].Bytes
		for n < len(sessions) && n < most && sessions[n].Source == sessions[0].Source && sessions[n].Month == sessions[0].Month && size+sessions[n].Bytes <= bytes {
			size += sessions[n].Bytes
			n++
		}
		out, sessions = append(out, sessions[:n]), sessions[n:]
	}
	return out
}

// Recordings rebuilds the sessions of one source and month, as DB.Recordings does,
// in the order given.
func (f *Fleet) Recordings(ctx context.Context, of []FleetSession) ([]*rollout.Session, error) {
	if len(of) == 0 {
		return nil, nil
	}
	r := &rebuilder{db: f.db, byKey: map[partSession]*rebuilt{}, texts: map[string]string{}}
	with, args, err := f.tables(of)
	if err != nil {
		return nil, err
	}
	for _, step := range r.steps() {
		if err := f.db.eachRow(ctx, with, "sql/recordings/"+step.name+".sql", step.row, args...); err != nil {
			return nil, fmt.Errorf("rebuilding %s: %w", step.name, err)
		}
	}
	out := make([]*rollout.Session, len(of))
	for i, ref := range of {
		s, ok := r.byKey[partSession{ref.Part, ref.ID}]
		if !ok {
			return nil, fmt.Errorf("session %s of part %s is gone from the dataset", ref.ID, ref.Part)
		}
		if err := rollout.Check(s.Session); err != nil {
			return nil, fmt.Errorf("rebuilding sessions: %w", err)
		}
		out[i] = s.Session
	}
	return out, nil
}

// contentTables are the tables that sql/fleet/content.sql reads.
var contentTables = []string{"sessions", "requests", "items", "spans", "calls", "texts", "other_billed", "reported", "problems"}

// tables defines the tables that recordings are read from as those of the sessions
// alone, to stand in front of a SELECT, and the parameters in them.
func (f *Fleet) tables(of []FleetSession) (with string, args []any, err error) {
	content, err := fleetFiles.ReadFile("sql/fleet/content.sql")
	if err != nil {
		return "", nil, err
	}
	rows := make([]string, len(of))
	for i, s := range of {
		rows[i] = "(?::VARCHAR, ?::VARCHAR, ?::VARCHAR)"
		args = append(args, s.stem, s.Part, s.ID)
	}
	args = append(args, of[0].Source)
	var files []string
	for _, t := range contentTables { // none of them begins with another
		files = append(files, "FROM files_of_"+t, "FROM "+f.files(t, of))
	}
	return "WITH chunk(stem, part, session_id) AS (VALUES " + strings.Join(rows, ", ") + "),\n" + strings.NewReplacer(files...).Replace(string(content)), args, nil
}

// files reads the files of a table that hold the sessions, and the one without rows,
// which every table has.
func (f *Fleet) files(table string, of []FleetSession) string {
	root := f.db.root
	if _, err := os.Stat(filepath.Join(root, table, "source=none", "month=none", "empty.parquet")); err != nil {
		root = f.Aside()
	}
	empty := []string{filepath.Join(root, table, "source=none", "month=none", "empty.parquet")}
	if f.db.aside != "" && root != f.Aside() {
		empty = append(empty, filepath.Join(f.Aside(), table, "source=none", "month=none", "empty.parquet"))
	}
	paths := empty
	seen := map[string]bool{}
	for _, s := range of {
		path := filepath.Join(f.db.root, table, "source="+s.Source, "month="+s.Month, s.stem+".parquet")
		if seen[path] {
			continue
		}
		seen[path] = true
		if _, err := os.Stat(path); err == nil {
			paths = append(paths, path)
		}
	}
	quoted := make([]string, len(paths))
	for i, p := range paths {
		quoted[i] = quote(filepath.ToSlash(escapeGlob(p)))
	}
	return fmt.Sprintf("(SELECT * EXCLUDE (filename), parse_filename(filename, true) AS stem FROM read_parquet([%s], hive_partitioning = false, union_by_name = true, filename = true))",
		strings.Join(quoted, ", "))
}

// EstimateKey says of which replay estimates are.
type EstimateKey struct {
	Variant string
	Options string
	Rules   string
	Prices  string
}

// Known calls f with every selected session that has an estimate already. Estimates
// written since the fleet was opened are among them.
func (f *Fleet) Known(ctx context.Context, call func(source, part, session string, key EstimateKey)) error {
	if err := f.refresh(ctx); err != nil {
		return err
	}
	rows, err := f.ask(ctx, "known")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var source, part, session string
		var k EstimateKey
		if err := rows.Scan(&source, &part, &session, &k.Variant, &k.Options, &k.Rules, &k.Prices); err != nil {
			return err
		}
		call(source, part, session, k)
	}
	return rows.Err()
}

// refresh lets files that were written since the fleet was opened be seen.
func (f *Fleet) refresh(ctx context.Context) error {
	return f.db.exec(ctx, f.db.sideViews(f.Aside())...)
}

// ask runs a query of sql/fleet with its parameters.
func (f *Fleet) ask(ctx context.Context, name string, args ...any) (*sql.Rows, error) {
	query, err := fleetFiles.ReadFile("sql/fleet/" + name + ".sql")
	if err != nil {
		return nil, err
	}
	rows, err := f.db.conn.QueryContext(ctx, string(query), args...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return rows, nil
}
