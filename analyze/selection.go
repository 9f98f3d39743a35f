package analyze

import (
	"context"
	"reflect"
	"strings"
	"time"
)

// Selection says which sessions to look at. The zero value selects all.
type Selection struct {
	Since   time.Time // sessions that ended at or after it; zero: no bound
	Until   time.Time // sessions that started before it; zero: no bound
	Agent   string    // source: freecode, codex, claude-code
	Model   string    // a model that answered, with or without its provider prefix
	Project string    // part of the working directory
	Session string    // beginning of the session ID
	Last    int       // the newest N sessions, with the sub-agents below them; 0: all
	Parts   []string  // sessions that one of these parts of the dataset holds; nil: all
	Where   string    // SQL condition over the columns of sessions, as CheckWhere takes it; "": none
	Sample  int       // so many sessions of those, by a hash of their IDs; 0: all
	Seed    int64     // of the sample: another one draws others
}

// all reports whether nothing is left out.
func (s Selection) all() bool {
	parts := s.Parts
	s.Parts = nil
	return parts == nil && reflect.ValueOf(s).IsZero()
}

// inParts keeps the sessions that one of the selection's parts holds.
const inParts = "(c.source, c.session_id) IN (SELECT (source, session_id) FROM committed_parts " +
	"WHERE part IN (SELECT unnest(string_split(?::VARCHAR, ' '))))"

// readQuery makes the table of the sessions whose logs were read, whether they
// meet the conditions or not.
func (s Selection) readQuery() (string, []any) {
	const all = "CREATE TABLE read_sessions AS SELECT c.source, c.session_id FROM current_parts c"
	if s.Parts == nil {
		return all, nil
	}
	return all + " WHERE " + inParts, []any{strings.Join(s.Parts, " ")}
}

// query is the statement that fills the table of selected sessions. Values of
// the selection are parameters, never part of the text.
func (s Selection) query() (string, []any) {
	var where []string
	var args []any
	add := func(condition string, values ...any) {
		where = append(where, condition)
		args = append(args, values...)
	}
	if !s.Since.IsZero() {
		add("coalesce(c.ended_at, c.started_at) >= ?::TIMESTAMPTZ", s.Since.UTC())
	}
	if !s.Until.IsZero() {
		add("coalesce(c.started_at, c.ended_at) < ?::TIMESTAMPTZ", s.Until.UTC())
	}
	if s.Agent != "" {
		add("c.source = ?::VARCHAR", s.Agent)
	}
	if s.Model != "" {
		add("list_contains(list_transform(c.models, lambda m: lower(m)), lower(?::VARCHAR)) OR "+
			"list_contains(list_transform(c.models, lambda m: lower(regexp_extract(m, '[^/]*$'))), lower(?::VARCHAR))", s.Model, s.Model)
	}
	if s.Project != "" {
		add("contains(lower(c.cwd), lower(?::VARCHAR))", s.Project)
	}
	if s.Session != "" {
		add("starts_with(c.session_id, ?::VARCHAR)", s.Session)
	}
	if s.Where != "" {
		add("(c.source, c.stem, c.part, c.session_id) IN (SELECT (source, stem, part, session_id) FROM raw_sessions AS sessions WHERE (" + s.Where + "\n))")
	}
	if s.Parts != nil {
		// A longer copy of the session in another part may be the one that counts.
		add(inParts, strings.Join(s.Parts, " "))
	}
	for i, w := range where {
		where[i] = "(" + w + ")"
	}
	sql := selectSessions
	if len(where) > 0 {
		sql = strings.Replace(sql, "WHERE true", "WHERE "+strings.Join(where, " AND "), 1)
	}
	last := int64(s.Last)
	if last <= 0 {
		last = 1 << 62
	}
	return sql, append(args, last)
}

// choose fills the tables of the sessions that were selected and read, and says
// how many there were before a sample was drawn.
func (d *DB) choose(ctx context.Context, s Selection) error {
	for _, statement := range []func() (string, []any){s.query, s.readQuery} {
		query, args := statement()
		if _, err := d.conn.ExecContext(ctx, query, args...); err != nil {
			return err
		}
	}
	if err := d.exec(ctx, "CREATE TABLE population AS SELECT count(*) AS sessions FROM selected"); err != nil || s.Sample <= 0 {
		return err
	}
	sampling, err := fleetFiles.ReadFile("sql/fleet/sample.sql")
	if err != nil {
		return err
	}
	_, err = d.conn.ExecContext(ctx, string(sampling), s.Seed, s.Sample)
	return err
}
