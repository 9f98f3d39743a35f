package analyze

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"
)

//go:embed sql/shared/*.sql
var sharedFiles embed.FS

// shared is a file of definitions that several questions build on, such as what
// every item cost. Planning one is more work than running it on a usual session, and
// a question that names it three times plans it three times. So it is made a table
// once a shipped question needs it, and stays the view it is written as for queries
// of users, who may need none of it.
type shared struct {
	name   string
	text   string
	views  []string
	needs  []*shared // files before this one that it is built on
	mu     sync.Mutex
	made   bool // as views
	filled bool // as tables
}

var (
	definition = regexp.MustCompile(`(?m)^CREATE VIEW (\w+) AS$`)
	comments   = regexp.MustCompile(`(?m)--.*$`)
	words      = regexp.MustCompile(`\w+`)
)

// readShared reads the files in the order of their names.
func readShared() ([]*shared, error) {
	paths, err := fs.Glob(sharedFiles, "sql/shared/*.sql")
	if err != nil {
		return nil, err
	}
	var out []*shared
	for _, path := range paths {
		text, err := sharedFiles.ReadFile(path)
		if err != nil {
			return nil, err
		}
		s := &shared{name: path, text: string(text)}
		for _, m := range definition.FindAllStringSubmatch(s.text, -1) {
			s.views = append(s.views, m[1])
		}
		s.needs = named(out, s.text)
		out = append(out, s)
	}
	return out, nil
}

// named are the files of which a statement names a view.
func named(all []*shared, statement string) (out []*shared) {
	used := words.FindAllString(comments.ReplaceAllString(statement, ""), -1)
	for _, s := range all {
		if slices.ContainsFunc(s.views, func(view string) bool { return slices.Contains(used, view) }) {
			out = append(out, s)
		}
	}
	return out
}

// makeViews makes what is no table a view.
func (d *DB) makeViews(ctx context.Context) error {
	for _, s := range d.shared {
		if err := s.makeViews(ctx, d.conn); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

func (s *shared) makeViews(ctx context.Context, conn *sql.Conn) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.made || s.filled {
		return nil
	}
	err := together(ctx, conn, s.text)
	s.made = err == nil
	return err
}

// fill makes tables of what a shipped question names.
func (d *DB) fill(ctx context.Context, conn *sql.Conn, question string) error {
	for _, s := range named(d.shared, question) {
		if err := s.fill(ctx, conn); err != nil {
			return err
		}
	}
	return nil
}

func (s *shared) fill(ctx context.Context, conn *sql.Conn) error {
	for _, needed := range s.needs {
		if err := needed.fill(ctx, conn); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.filled {
		return nil
	}
	if s.made {
		if _, err := conn.ExecContext(ctx, s.drop("VIEW")); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		s.made = false
	}
	// Each table stands before the next is planned: in one transaction DuckDB would
	// not know how many rows the first ones have, and join them in orders that take
	// minutes.
	if _, err := conn.ExecContext(ctx, asTables(s.text)); err != nil {
		_, undone := conn.ExecContext(context.WithoutCancel(ctx), s.drop("TABLE"))
		return fmt.Errorf("%s: %w", s.name, errors.Join(err, undone))
	}
	s.filled = true
	return nil
}

// asTables makes tables of definitions of views.
func asTables(text string) string { return strings.ReplaceAll(text, "CREATE VIEW ", "CREATE TABLE ") }

// drop is what takes its views or tables away again, the last one first.
func (s *shared) drop(kind string) string {
	var out strings.Builder
	for _, view := range slices.Backward(s.views) {
		fmt.Fprintf(&out, "DROP %s IF EXISTS %s;\n", kind, view)
	}
	return out.String()
}

// together runs statements of which all or none have an effect.
func together(ctx context.Context, conn *sql.Conn, statements string) error {
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, statements); err != nil {
		return err
	}
	return tx.Commit()
}
