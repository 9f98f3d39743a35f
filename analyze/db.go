package analyze

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/duckdb/duckdb-go/v2"

	"github.com/fclog/fclog/analyze/dataset"
)

//go:embed sql/views/*.sql
var setupSQL embed.FS

//go:embed sql/views/3_selected.sql
var selectSessions string

// Options say what to open and how.
type Options struct {
	Dataset   string
	Prices    []Price
	Selection Selection
	TZ        *time.Location // zone of days and of shown times; nil: UTC
	Threads   int            // 0: one per processor
	MemoryMB  int            // 0: 2048; beyond it DuckDB writes to the temporary folder

	between func() // in tests: called while the dataset is read
}

func (o Options) meanwhile() {
	if o.between != nil {
		o.between()
	}
}

// DB answers questions about the selected sessions of a dataset. Its tables are
// sessions, requests, items, spans, calls, other_billed, reported, calibration,
// problems, prices and session_tree, and texts, which is read from the files when asked
// for. It cannot be written to, and reads no file outside the dataset.
type DB struct {
	db   *sql.DB
	conn *sql.Conn
	// second is for what is done two at a time.
	second *sql.Conn
	small  bool // planning a statement takes longer than running it
	tmp    string
	root   string // absolute path of the dataset

	// aside holds tables without rows that give an older dataset the columns of this
	// version; "" not needed.
	aside string

	shared []*shared
}

// ErrNotQuery refuses what is not one reading statement.
var ErrNotQuery = errors.New("only one SELECT statement at a time can be run")

// Open loads the selected sessions of a dataset. While an import or a merge writes it,
// it is loaded again, so that every session is there as a whole; where that does not
// help there is a problem of the kind changed-while-read.
func Open(ctx context.Context, o Options) (*DB, error) {
	if err := dataset.Check(o.Dataset); err != nil {
		return nil, err
	}
	var d *DB
	err := steadily(ctx, o.Dataset, func() (err error) {
		if d != nil {
			d.Close()
		}
		d, err = openOnce(ctx, o)
		return err
	})
	if !errors.Is(err, errUnsteady) {
		return d, err
	}
	if err := d.noteUnsteady(ctx, o.Dataset); err != nil {
		d.Close()
		return nil, openingError(o.Dataset, err)
	}
	return d, nil
}

func openOnce(ctx context.Context, o Options) (*DB, error) {
	tmp, err := os.MkdirTemp("", "fclog-sql-")
	if err != nil {
		return nil, err
	}
	d := &DB{tmp: tmp}
	if err := d.open(ctx, o); err != nil {
		d.Close()
		return nil, openingError(o.Dataset, err)
	}
	return d, nil
}

// connect opens a database in memory for the dataset in dir.
func (d *DB) connect(ctx context.Context, dir string) error {
	connector, err := duckdb.NewConnector("", nil)
	if err != nil {
		return err
	}
	d.db = sql.OpenDB(connector)
	if d.conn, err = d.db.Conn(ctx); err != nil {
		return err
	}
	d.root, err = filepath.Abs(dir)
	return err
}

// seal ends access to everything outside the dataset, for good.
func (d *DB) seal(ctx context.Context) error {
	return d.exec(ctx, "SET enable_external_access = false", "SET lock_configuration = true")
}

func (d *DB) open(ctx context.Context, o Options) error {
	if err := d.connect(ctx, o.Dataset); err != nil {
		return err
	}
	if d.small = isSmall(d.root); d.small && o.Threads == 0 {
		o.Threads = 1
	}
	steps := []func() error{
		d.complete,
		func() error { return d.exec(ctx, settings(o, d.root, d.tmp, d.aside)...) },
		func() error { return d.openSecond(ctx, o) },
		func() error { return d.makeRaw(ctx) },
		func() error { o.meanwhile(); return nil },
		func() error { return d.checkWhere(ctx, o.Selection.Where) },
		func() error { return d.loadPrices(ctx, o.Prices) },
		func() error { return d.setUp(ctx, o.Selection) },
		func() error { return d.seal(ctx) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// openSecond makes the second connection; the zone is a setting of each.
func (d *DB) openSecond(ctx context.Context, o Options) (err error) {
	if d.second, err = d.db.Conn(ctx); err != nil {
		return err
	}
	return execOn(ctx, d.second, zone(o.TZ)...)
}

// complete fills in what a dataset of an older version lacks.
func (d *DB) complete() error {
	aside := filepath.Join(d.tmp, "tables")
	needed, err := dataset.Complete(d.root, aside)
	if needed {
		d.aside = aside
	}
	return err
}

// Close releases the database and its temporary files.
func (d *DB) Close() error {
	var errs []error
	if d.second != nil {
		errs = append(errs, d.second.Close())
	}
	if d.conn != nil {
		errs = append(errs, d.conn.Close())
	}
	if d.db != nil {
		errs = append(errs, d.db.Close())
	}
	return errors.Join(append(errs, os.RemoveAll(d.tmp))...)
}

func (d *DB) exec(ctx context.Context, statements ...string) error {
	return execOn(ctx, d.conn, statements...)
}

func execOn(ctx context.Context, conn *sql.Conn, statements ...string) error {
	for _, s := range statements {
		if _, err := conn.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// settings keep DuckDB off the network and inside its bounds. The order matters:
// the folders must be named before external access ends.
func settings(o Options, root, tmp, aside string) []string {
	threads, memory := o.Threads, o.MemoryMB
	switch {
	case threads > 0:
	case isSmall(root):
		threads = 1
	default:
		threads = runtime.GOMAXPROCS(0)
	}
	if memory <= 0 {
		memory = 2048
	}
	folders := []string{root + string(filepath.Separator), filepath.ToSlash(escapeGlob(root)) + "/"}
	if aside != "" {
		folders = append(folders, aside+string(filepath.Separator), filepath.ToSlash(escapeGlob(aside))+"/")
	}
	for i, f := range folders {
		folders[i] = quote(f)
	}
	out := []string{
		"SET autoinstall_known_extensions = false",
		"SET autoload_known_extensions = false",
		fmt.Sprintf("SET threads = %d", threads),
		fmt.Sprintf("SET memory_limit = '%dMB'", memory),
		"SET temp_directory = " + quote(tmp),
		"SET preserve_insertion_order = true",
		"SET parquet_metadata_cache = true",
		// Every second is how the texts' pattern begins, which is compared as it is.
		"SET allowed_directories = [" + strings.Join(folders, ", ") + "]",
	}
	return append(out, zone(o.TZ)...)
}

func zone(tz *time.Location) []string {
	switch tz {
	case nil:
		return []string{"SET TimeZone = 'UTC'"}
	case time.Local: // DuckDB's own default; Go does not know its name
		return nil
	}
	return []string{"SET TimeZone = " + quote(tz.String())}
}

// smallBytes is the size of a dataset without its texts up to which threads cost
// more than they save, as planning a question takes longer than running it: that of
// some 5 MB of logs.
const smallBytes = 512 << 10

// isSmall tells by the sizes of its files whether a dataset is small.
func isSmall(root string) bool {
	left := int64(smallBytes)
	for _, table := range dataset.Tables() {
		if table == "texts" {
			continue
		}
		// What cannot be read is told by DuckDB.
		_ = filepath.WalkDir(filepath.Join(root, table), func(_ string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return nil
			}
			if info, err := e.Info(); err == nil {
				left -= info.Size()
			}
			if left < 0 {
				return fs.SkipAll
			}
			return nil
		})
	}
	return left >= 0
}

// rawViews make the files of every table readable as raw_TABLE, with the stem of
// the file each row stands in.
func (d *DB) rawViews() []string {
	var out []string
	for _, table := range dataset.Tables() {
		patterns := d.asideFiles(table)
		if hasFiles(filepath.Join(d.root, table)) {
			patterns = append(patterns, glob(d.root, table))
		}
		for i, p := range patterns {
			patterns[i] = quote(p)
		}
		out = append(out, rawView(table, "["+strings.Join(patterns, ", ")+"]"))
	}
	return append(out, d.sideViews("")...)
}

// makeRaw makes the raw views. Those of a small dataset become tables, but for its
// texts: DuckDB looks at files anew wherever a statement names them, and plans twice
// what reads them.
func (d *DB) makeRaw(ctx context.Context) error {
	statements := d.rawViews()
	if !d.small {
		return d.exec(ctx, statements...)
	}
	steps := make([]step, len(statements))
	for i, s := range statements {
		if i < len(dataset.Tables()) && dataset.Tables()[i] != "texts" {
			s = strings.Replace(s, " VIEW ", " TABLE ", 1)
		}
		steps[i] = func(ctx context.Context, conn *sql.Conn) error { return execOn(ctx, conn, s) }
	}
	return atOnce(ctx, []*sql.Conn{d.conn, d.second}, steps)
}

// hasFiles tells whether a table has any file: an import that was killed early may
// have made nothing but its folders, and a pattern that matches nothing is an error.
func hasFiles(folder string) bool {
	found := false
	// What cannot be read is told by DuckDB.
	_ = filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".parquet" {
			found = true
			return fs.SkipAll
		}
		return nil
	})
	return found
}

// asideFiles is the file without rows that an older dataset's table is read with.
func (d *DB) asideFiles(table string) []string {
	if d.aside == "" {
		return nil
	}
	return []string{glob(d.aside, table)}
}

func glob(root, table string) string {
	return filepath.ToSlash(filepath.Join(escapeGlob(root), table)) + "/*/*/*.parquet"
}

func rawView(table, files string) string {
	return fmt.Sprintf(`CREATE OR REPLACE VIEW raw_%s AS
SELECT * EXCLUDE (filename), parse_filename(filename, true) AS stem
FROM read_parquet(%s, hive_partitioning = true, hive_types_autocast = 0, union_by_name = true, filename = true)`, table, files)
}

// narrow leaves out the files that hold nothing of the selected sessions. Opening
// a file costs about a millisecond a scan, so a dataset of a thousand parts would
// answer a question about one of them no faster than about all. Texts stay whole.
func (d *DB) narrow(ctx context.Context) error {
	for _, table := range dataset.Tables() {
		if table == "texts" {
			continue
		}
		patterns := append(d.asideFiles(table), glob(d.root, table))
		for i, p := range patterns {
			patterns[i] = "FROM glob(" + quote(p) + ")"
		}
		err := d.exec(ctx, fmt.Sprintf(`SET VARIABLE files_of_%s = (
  SELECT list(regexp_replace(file, '([\[*?])', '[\1]', 'g'))
  FROM (%s)
  WHERE parse_filename(file, true) = 'empty'
     OR parse_filename(file, true) IN (FROM (FROM committed_parts SEMI JOIN selected USING (source, session_id)) SELECT stem))`,
			table, strings.Join(patterns, " UNION ALL ")), rawView(table, "getvariable('files_of_"+table+"')"))
		if err != nil {
			return err
		}
	}
	return nil
}

// quote writes a string as an SQL literal, for the few places that take no
// parameter.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// escapeGlob makes characters that patterns understand stand for themselves.
func escapeGlob(path string) string {
	return strings.NewReplacer("[", "[[]", "*", "[*]", "?", "[?]").Replace(path)
}

func (d *DB) loadPrices(ctx context.Context, prices []Price) error {
	err := d.exec(ctx, `CREATE TABLE prices (
  provider VARCHAR, model VARCHAR NOT NULL, input DOUBLE, cache_read DOUBLE, cache_write_5m DOUBLE, cache_write_1h DOUBLE, output DOUBLE,
  long_above BIGINT, long_input DOUBLE, long_cache_read DOUBLE, long_cache_write_5m DOUBLE, long_cache_write_1h DOUBLE, long_output DOUBLE,
  date VARCHAR, file VARCHAR)`)
	if err != nil {
		return err
	}
	return d.conn.Raw(func(c any) error {
		a, err := duckdb.NewAppenderFromConn(c.(driver.Conn), "", "prices")
		if err != nil {
			return err
		}
		for _, p := range prices {
			if err := appendPrice(a, p); err != nil {
				a.Close()
				return fmt.Errorf("price of %s: %w", p.Model, err)
			}
		}
		return a.Close()
	})
}

func appendPrice(a *duckdb.Appender, p Price) error {
	var provider any
	if p.Provider != "" {
		provider = p.Provider
	}
	row := []driver.Value{provider, p.Model}
	for _, v := range []*float64{p.Input, p.CacheRead, p.CacheWrite5m, p.CacheWrite1h, p.Output} {
		row = append(row, orNull(v))
	}
	row = append(row, orNull(p.LongAbove))
	for _, v := range []*float64{p.Long.Input, p.Long.CacheRead, p.Long.CacheWrite5m, p.Long.CacheWrite1h, p.Long.Output} {
		row = append(row, orNull(v))
	}
	for _, s := range []string{p.Date, p.File} {
		if s == "" {
			row = append(row, nil)
			continue
		}
		row = append(row, s)
	}
	return a.AppendRow(row...)
}

func orNull[T any](v *T) driver.Value {
	if v == nil {
		return nil
	}
	return *v
}

// setUp runs the .sql files that make the tables, in the order of their names. Files
// of one number need nothing of each other.
func (d *DB) setUp(ctx context.Context, sel Selection) error {
	if err := d.exec(ctx, "CREATE TABLE selected (source VARCHAR, stem VARCHAR, part VARCHAR, session_id VARCHAR)"); err != nil {
		return err
	}
	numbers, err := setUpFiles()
	if err != nil {
		return err
	}
	conns := []*sql.Conn{d.conn}
	if d.small && sel.all() { // else DuckDB has threads to use, and variables of the first connection
		conns = append(conns, d.second)
	}
	for _, names := range numbers {
		steps := make([]step, len(names))
		for i, name := range names {
			steps[i] = func(ctx context.Context, conn *sql.Conn) error { return d.runFile(ctx, conn, name, sel) }
		}
		if err := atOnce(ctx, conns, steps); err != nil {
			return err
		}
	}
	if err := d.makeSide(ctx); err != nil {
		return err
	}
	d.shared, err = readShared()
	return err
}

// setUpFiles are the files under sql/views by the number that their names begin with.
func setUpFiles() ([][]string, error) {
	names, err := fs.Glob(setupSQL, "sql/views/*.sql")
	if err != nil {
		return nil, err
	}
	number := func(name string) string {
		before, _, _ := strings.Cut(name, "_")
		return before
	}
	var out [][]string
	for i, name := range names {
		if i == 0 || number(name) != number(names[i-1]) {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], name)
	}
	return out, nil
}

func (d *DB) runFile(ctx context.Context, conn *sql.Conn, name string, sel Selection) error {
	if strings.HasSuffix(name, "/3_selected.sql") {
		if err := d.choose(ctx, sel); err != nil {
			return err
		}
		if sel.all() || d.small {
			return nil
		}
		return d.narrow(ctx)
	}
	if strings.HasSuffix(name, "/6_other_parts.sql") {
		if several, err := severalParts(ctx, conn); err != nil || !several {
			return err
		}
	}
	text, err := setupSQL.ReadFile(name)
	if err != nil {
		return err
	}
	if err := execOn(ctx, conn, string(text)); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// severalParts tells whether any session stands in more than one part.
func severalParts(ctx context.Context, conn *sql.Conn) (several bool, err error) {
	const query = "SELECT EXISTS (SELECT 1 FROM committed_parts GROUP BY source, session_id HAVING count(*) > 1)"
	err = conn.QueryRowContext(ctx, query).Scan(&several)
	return several, err
}

// readers are the words a reading statement can begin with.
var readers = regexp.MustCompile(`(?is)^(\s|--[^\n]*(\n|$)|/\*.*?\*/|\()*(SELECT|WITH|FROM|VALUES|TABLE|DESCRIBE|SHOW|SUMMARIZE|PIVOT|UNPIVOT)\b`)

// Query runs one reading statement. Anything else is ErrNotQuery; what the database
// finds wrong with it is a StatementError.
func (d *DB) Query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	// Preparing an EXPORT already makes its folder, so the first word is looked at
	// before DuckDB is asked.
	if !readers.MatchString(query) {
		return nil, ErrNotQuery
	}
	if err := d.makeViews(ctx); err != nil {
		return nil, err
	}
	if err := d.mayCall(ctx, query); err != nil {
		return nil, err
	}
	if err := d.mayRun(query); err != nil {
		return nil, err
	}
	rows, err := d.conn.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, &StatementError{err}
	}
	return rows, nil
}

// mayRun asks DuckDB what kind of statement it is. Preparing runs nothing.
func (d *DB) mayRun(query string) error {
	return d.conn.Raw(func(c any) error {
		prepared, err := c.(*duckdb.Conn).Prepare(query)
		if err != nil {
			return queryError(query, err)
		}
		defer prepared.Close()
		kind, err := prepared.(*duckdb.Stmt).StatementType()
		if err != nil {
			return err
		}
		if kind != duckdb.STATEMENT_TYPE_SELECT {
			return ErrNotQuery
		}
		return nil
	})
}

// queryError tells several statements, which the driver refuses without a type
// of error and in words for programmers, from a fault in one.
func queryError(query string, err error) error {
	var fault *duckdb.Error
	switch {
	case errors.As(err, &fault):
		return &StatementError{err}
	case pivots.MatchString(query):
		return fmt.Errorf("%w, and a PIVOT is two unless it names the values: PIVOT sessions ON source IN ('codex', 'pi') USING count(*)", ErrNotQuery)
	}
	return ErrNotQuery
}

// pivots are statements with a PIVOT, which DuckDB makes two of where it first has to
// look which values there are: one of them makes a type.
var pivots = regexp.MustCompile(`(?i)\bPIVOT(_WIDER)?\b`)
