package analyze

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
)

//go:embed sql/*.sql
var questionFiles embed.FS

// Question is one shipped question: a file under sql/ with its documentation.
type Question struct {
	Name    string   // file name without .sql; stable
	Title   string   // one line
	Doc     string   // what it answers
	Params  []string // parameters its SQL takes, see Params
	Columns []Column // columns of the answer, in order
	SQL     string   // the query alone
}

// Column is one column of an answer.
type Column struct {
	Name string
	Doc  string // meaning and unit
}

// Params are the values of the parameters that some questions take. The zero
// value asks for everything in UTC.
type Params struct {
	TZ      string // time zone that days are cut in, such as Europe/Berlin; "" UTC
	Limit   int    // most rows of a ranking; 0 means 20
	Session string // one session only; "" all
}

// Questions returns the shipped questions by name.
func Questions() ([]Question, error) {
	paths, err := fs.Glob(questionFiles, "sql/*.sql")
	if err != nil {
		return nil, err
	}
	questions := make([]Question, 0, len(paths))
	for _, path := range paths {
		q, err := FindQuestion(strings.TrimSuffix(strings.TrimPrefix(path, "sql/"), ".sql"))
		if err != nil {
			return nil, err
		}
		questions = append(questions, q)
	}
	return questions, nil
}

// FindQuestion returns the shipped question of that name.
func FindQuestion(name string) (Question, error) {
	text, err := questionFiles.ReadFile("sql/" + name + ".sql")
	if err != nil {
		return Question{}, fmt.Errorf("no question named %q", name)
	}
	return parseQuestion(name, string(text)), nil
}

var (
	columnLine = regexp.MustCompile(`^  (\S+)\s\s+(.+)$`)
	paramName  = regexp.MustCompile(`\$([a-z]+)\b`)
)

// parseQuestion splits a file into its leading comment block and its query. The
// block holds the title, a blank line, the text, and the columns one a line.
func parseQuestion(name, text string) Question {
	q := Question{Name: name}
	lines := strings.Split(text, "\n")
	body := slices.IndexFunc(lines, func(l string) bool { return !strings.HasPrefix(l, "--") })
	if body < 0 {
		body = len(lines)
	}
	var doc []string
	columns := false
	for i, line := range lines[:body] {
		line = strings.TrimPrefix(strings.TrimPrefix(line, "--"), " ")
		switch m := columnLine.FindStringSubmatch(line); {
		case i == 0:
			q.Title = line
		case line == "Columns:":
			columns = true
		case columns && m != nil:
			q.Columns = append(q.Columns, Column{Name: m[1], Doc: m[2]})
		default:
			doc = append(doc, line)
		}
	}
	q.Doc = strings.TrimSpace(strings.Join(doc, "\n"))
	q.SQL = strings.TrimSpace(strings.Join(lines[body:], "\n"))
	for _, m := range paramName.FindAllStringSubmatch(q.SQL, -1) {
		if !slices.Contains(q.Params, m[1]) {
			q.Params = append(q.Params, m[1])
		}
	}
	return q
}

// args binds the parameters that the question takes.
func (q Question) args(p Params) ([]any, error) {
	values := map[string]any{"tz": "UTC", "limit": int64(20), "session": nil}
	if p.TZ != "" {
		values["tz"] = p.TZ
	}
	if p.Limit > 0 {
		values["limit"] = int64(p.Limit)
	}
	if p.Session != "" {
		values["session"] = p.Session
	}
	args := make([]any, 0, len(q.Params))
	for _, name := range q.Params {
		value, ok := values[name]
		if !ok {
			return nil, fmt.Errorf("question %s: unknown parameter $%s", q.Name, name)
		}
		args = append(args, sql.Named(name, value))
	}
	return args, nil
}

// Ask runs the shipped question of that name. The caller closes the rows.
func Ask(ctx context.Context, db *DB, name string, p Params) (*sql.Rows, error) {
	return db.ask(ctx, db.conn, name, p)
}

// ask runs a shipped question on one connection.
func (d *DB) ask(ctx context.Context, conn *sql.Conn, name string, p Params) (*sql.Rows, error) {
	q, err := FindQuestion(name)
	if err != nil {
		return nil, err
	}
	args, err := q.args(p)
	if err != nil {
		return nil, err
	}
	if err := d.fill(ctx, conn, q.SQL); err != nil {
		return nil, fmt.Errorf("question %s: %w", name, err)
	}
	// It is part of the program: a test asks Query whether it only reads.
	rows, err := conn.QueryContext(ctx, q.SQL, args...)
	if err != nil {
		return nil, fmt.Errorf("question %s: %w", name, err)
	}
	return rows, nil
}
