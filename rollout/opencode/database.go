package opencode

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"

	"github.com/go-json-experiment/json/jsontext"
	_ "modernc.org/sqlite" // registers the database driver

	"github.com/fclog/fclog/rollout/logfile"
)

// readDatabase reads every session of a database, from a copy of it.
func readDatabase(ctx context.Context, path string, add func(*builder)) error {
	copied, remove, err := snapshot(ctx, path)
	if err != nil {
		return err
	}
	defer remove()
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: copied}).String())
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	d := &database{db: db, path: path}
	if !d.understood(ctx) {
		return fmt.Errorf("%s: %w: a database whose tables are named as OpenCode's but hold something else", path, logfile.ErrNotLog)
	}
	sessions, err := d.sessions(ctx)
	if err != nil && len(sessions) == 0 {
		return fmt.Errorf("the database %s cannot be read: it is damaged (%w)", path, err)
	}
	damaged := err != nil
	if len(sessions) == 0 {
		return fmt.Errorf("%s: %w: the database holds no session", path, logfile.ErrNotLog)
	}
	for _, doc := range sessions {
		if err := d.fill(ctx, doc); ctx.Err() != nil {
			return ctx.Err()
		} else if err != nil {
			doc.fault("damaged-database", "the database is damaged here: what could be read of the session was taken", 0)
		}
		if damaged {
			doc.fault("damaged-database", "the list of sessions is damaged: sessions may be missing", 0)
			damaged = false
		}
		add(build(doc, path))
		doc.messages = nil
	}
	return nil
}

// understood says whether the tables have the columns that messages and parts are
// read by. Damage is no answer: then what can be read is tried.
func (d *database) understood(ctx context.Context) bool {
	for table, columns := range neededColumns {
		for _, column := range columns {
			var n int
			err := d.db.QueryRowContext(ctx, "SELECT count(*) FROM pragma_table_info(?) WHERE name = ?", table, column).Scan(&n)
			if err == nil && n == 0 {
				return false
			}
		}
	}
	return true
}

// neededColumns are those without which a table tells nothing.
var neededColumns = map[string][]string{
	"session": {"id"},
	"message": {"id", "session_id", "time_created", "data"},
	"part":    {"id", "message_id", "session_id", "time_created", "data"},
}

type database struct {
	db   *sql.DB
	path string
}

// sessions reads the session table. Its columns differ between versions.
func (d *database) sessions(ctx context.Context) ([]*document, error) {
	rows, err := d.db.QueryContext(ctx, "SELECT * FROM session ORDER BY id")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	var out []*document
	for rows.Next() {
		values := make([]any, len(columns))
		into := make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return out, err
		}
		row := map[string]any{}
		for i, c := range columns {
			row[c] = values[i]
		}
		if info := sessionRow(row); info.ID.V != "" {
			out = append(out, &document{info: info, records: 1})
		}
	}
	return out, rows.Err()
}

// sessionRow is a row of the session table as the JSON carriers would have it.
func sessionRow(row map[string]any) sessionInfo {
	var i sessionInfo
	i.ID, i.ParentID, i.ProjectID = word(row["id"]), word(row["parent_id"]), word(row["project_id"])
	i.Directory, i.Version, i.Agent = word(row["directory"]), word(row["version"]), word(row["agent"])
	i.Time.OK, i.Time.V.Created = true, count(row["time_created"])
	t := &i.Tokens.V
	t.Input, t.Output, t.Reasoning = count(row["tokens_input"]), count(row["tokens_output"]), count(row["tokens_reasoning"])
	t.Cache.OK, t.Cache.V.Read, t.Cache.V.Write = true, count(row["tokens_cache_read"]), count(row["tokens_cache_write"])
	i.Tokens.OK = t.Input.OK
	switch cost := row["cost"].(type) {
	case float64:
		i.Cost = logfile.Lenient[float64]{V: cost, OK: true}
	case int64:
		i.Cost = logfile.Lenient[float64]{V: float64(cost), OK: true}
	}
	return i
}

func word(v any) text {
	switch s := v.(type) {
	case string:
		return valid(s)
	case []byte:
		return valid(string(s))
	}
	return text{}
}

func valid(s string) text {
	clean, _ := logfile.ValidUTF8([]byte(s))
	return text{V: string(clean), OK: true}
}

func count(v any) number {
	n, ok := v.(int64)
	return number{V: n, OK: ok}
}

// fill reads the messages and parts of a session.
func (d *database) fill(ctx context.Context, doc *document) error {
	at := map[string]int{}
	err := d.rows(ctx, "SELECT id, '', time_created, data FROM message WHERE session_id = ? ORDER BY time_created, id", doc.info.ID.V, func(id, _ string, created number, data []byte) {
		m := doc.message(data, id, 0)
		if m == nil {
			return
		}
		if !m.Time.V.Created.OK {
			m.Time.OK, m.Time.V.Created = true, created
		}
		at[id] = len(doc.messages) - 1
	})
	if err != nil {
		return err
	}
	lost := 0
	err = d.rows(ctx, "SELECT id, message_id, time_created, data FROM part WHERE session_id = ? ORDER BY id", doc.info.ID.V, func(id, message string, _ number, data []byte) {
		i, ok := at[message]
		if !ok {
			lost++
			return
		}
		doc.part(&doc.messages[i], data, id, 0)
	})
	if lost > 0 {
		doc.fault("missing-parent", fmt.Sprintf("%d parts belong to no message of their session", lost), 0)
	}
	return err
}

// rows calls take for every row of a query for one session.
func (d *database) rows(ctx context.Context, query, session string, take func(id, parent string, created number, data []byte)) error {
	rows, err := d.db.QueryContext(ctx, query, session)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id, parent sql.NullString
		var created, data any
		if err := rows.Scan(&id, &parent, &created, &data); err != nil {
			return err
		}
		take(id.String, parent.String, count(created), jsonOf(data))
	}
	return rows.Err()
}

// jsonOf is the stored JSON of a row as valid UTF-8.
func jsonOf(data any) jsontext.Value {
	return []byte(word(data).V)
}
