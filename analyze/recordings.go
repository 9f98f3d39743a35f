package analyze

import (
	"context"
	"database/sql"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/fclog/fclog/rollout"
)

//go:embed sql/recordings/*.sql
var recordingFiles embed.FS

// ErrNoTexts refuses to rebuild sessions that were imported without their texts.
var ErrNoTexts = errors.New("imported without its texts, which are needed here: import the log again with them")

// Recordings rebuilds the selected sessions from the tables: what a reader would
// give for their logs, in order of start. Times are as exact as the dataset,
// milliseconds. Requests and calls that do not count, because another session
// owns the response, are marked inherited.
func (d *DB) Recordings(ctx context.Context) ([]*rollout.Session, error) {
	r := &rebuilder{db: d, byKey: map[partSession]*rebuilt{}, texts: map[string]string{}}
	for _, step := range r.steps() {
		if err := d.eachRow(ctx, "", "sql/recordings/"+step.name+".sql", step.row); err != nil {
			return nil, fmt.Errorf("rebuilding %s: %w", step.name, err)
		}
	}
	out := make([]*rollout.Session, len(r.order))
	for i, s := range r.order {
		if err := rollout.Check(s.Session); err != nil {
			return nil, fmt.Errorf("rebuilding sessions: %w", err)
		}
		out[i] = s.Session
	}
	return out, nil
}

// rebuilding is one table and what to do with a row of it.
type rebuilding struct {
	name string
	row  func(*sql.Rows) error
}

func (r *rebuilder) steps() []rebuilding {
	return []rebuilding{
		{"sessions", r.session}, {"texts", r.text}, {"requests", r.request}, {"items", r.item}, {"spans", r.span},
		{"calls", r.call}, {"other_billed", r.otherBilled}, {"reported", r.reported}, {"problems", r.problem},
	}
}

// eachRow runs a query that is shipped with the program, with definitions of the
// tables it names in front where those are not to be the ones of the database.
func (d *DB) eachRow(ctx context.Context, with, file string, row func(*sql.Rows) error, args ...any) error {
	query, err := recordingFiles.ReadFile(file)
	if err != nil {
		return err
	}
	rows, err := d.conn.QueryContext(ctx, with+string(query), args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

type partSession struct{ part, id string }

// rebuilder collects the rows of several sessions.
type rebuilder struct {
	db    *DB
	order []*rebuilt
	byKey map[partSession]*rebuilt
	texts map[string]string // by hash, hex: texts with words
}

// rebuilt is a session in the making.
type rebuilt struct {
	*rollout.Builder
	ids map[string]rollout.TextID // by hash, hex
}

// scan reads a row whose first two columns say which session it belongs to.
func (r *rebuilder) scan(rows *sql.Rows, into ...any) (*rebuilt, error) {
	var key partSession
	if err := rows.Scan(append([]any{&key.part, &key.id}, into...)...); err != nil {
		return nil, err
	}
	s, ok := r.byKey[key]
	if !ok {
		return nil, fmt.Errorf("session %s of part %s has no row of its own", key.id, key.part)
	}
	return s, nil
}

func (r *rebuilder) session(rows *sql.Rows) error {
	var key partSession
	var source, missing string
	var hasText bool
	var spawned, started, ended sql.NullTime
	s := rollout.Session{}
	err := rows.Scan(&key.part, &key.id, &source, text(&s.AgentVersion), text(&s.Agent), text(&s.ParentID), text(&s.ParentCall), text(&s.ForkedFrom),
		&spawned, &started, &ended, text(&s.CWD), &s.File, &s.Records, &missing, &hasText, &s.FrontMoves)
	if err != nil {
		return err
	}
	if !hasText {
		return fmt.Errorf("session %s: %w", key.id, ErrNoTexts)
	}
	if err := json.Unmarshal([]byte(missing), &s.Missing); err != nil {
		return err
	}
	if len(s.Missing) == 0 {
		s.Missing = nil
	}
	s.ID, s.Source, s.SpawnedAt, s.Started, s.Ended = key.id, source, when(spawned), when(started), when(ended)
	b := &rebuilt{Builder: rollout.NewBuilder(source), ids: map[string]rollout.TextID{}}
	*b.Session = s
	r.byKey[key] = b
	r.order = append(r.order, b)
	return nil
}

func (r *rebuilder) text(rows *sql.Rows) error {
	var hash, words string
	if err := rows.Scan(&hash, &words); err != nil {
		return err
	}
	r.texts[hash] = words
	return nil
}

// textID files a text of a session: with its words where the dataset has any,
// else as data without words.
func (r *rebuilder) textID(s *rebuilt, hash string, chars, bytes int) (rollout.TextID, error) {
	if id, ok := s.ids[hash]; ok {
		return id, nil
	}
	words, ok := r.texts[hash]
	if ok {
		s.ids[hash] = s.Text(words)
		return s.ids[hash], nil
	}
	var sum [32]byte
	if n, err := hex.Decode(sum[:], []byte(hash)); err != nil || n != len(sum) {
		return 0, fmt.Errorf("text hash %q of session %s is none", hash, s.Session.ID)
	}
	s.ids[hash] = s.OpaqueSum(sum, chars, bytes)
	return s.ids[hash], nil
}

func (r *rebuilder) request(rows *sql.Rows) error {
	var q rollout.Request
	var base sql.NullInt64
	var at sql.NullTime
	u := &q.Usage
	s, err := r.scan(rows, text(&q.ID), &q.Chain, &q.Number, &q.Kind, &q.Run, &q.Attempt, &q.Inherited, &base,
		&at, &q.DurationMS, &q.TTFTMS, text(&q.Provider), text(&q.Model), &q.Status,
		&u.Input, &u.CacheRead, &u.CacheWrite, &u.CacheWrite5m, &u.CacheWrite1h, &u.Output, &u.Reasoning,
		&q.OutputFinal, &q.Subscription, &q.LoggedUSD, &q.Messages, &q.PromptChars, &q.Line)
	if err != nil {
		return err
	}
	q.Base, q.Time = index(base), when(at)
	s.Session.Requests = append(s.Session.Requests, q)
	return nil
}

func (r *rebuilder) item(rows *sql.Rows) error {
	var it rollout.Item
	var hash string
	var chars, bytes int
	var request sql.NullInt64
	s, err := r.scan(rows, &it.Kind, text(&it.Role), text(&it.Tool), text(&it.CallID), text(&it.Label), &it.Origin, &request, &hash, &chars, &bytes, &it.Tokens)
	if err != nil {
		return err
	}
	it.Request = index(request)
	if it.Text, err = r.textID(s, hash, chars, bytes); err != nil {
		return err
	}
	s.Item(it)
	return nil
}

func (r *rebuilder) span(rows *sql.Rows) error {
	var sp rollout.Span
	var hash string
	var chars, bytes int
	s, err := r.scan(rows, &sp.Item, &sp.Chain, &sp.First, &sp.Last, &sp.Position, &hash, &chars, &bytes, &sp.Tokens)
	if err != nil {
		return err
	}
	if sp.Text, err = r.textID(s, hash, chars, bytes); err != nil {
		return err
	}
	s.Session.Spans = append(s.Session.Spans, sp)
	return nil
}

func (r *rebuilder) call(rows *sql.Rows) error {
	var c rollout.Call
	var args, full string
	var request, argsItem, resultItem sql.NullInt64
	var failed sql.NullBool
	var at sql.NullTime
	s, err := r.scan(rows, &request, &c.ID, &c.Tool, &c.Class, &args, &argsItem, &resultItem, text(&c.Command), text(&c.Path), text(&c.Range),
		&c.ReadOnly, &c.Mutates, &c.Ran, &c.Denied, &failed, &c.Inherited, &at, &c.DurationMS, text(&c.Task), &c.Starts, text(&c.Poll), text(&c.Truncated),
		text(&c.Handle), text(&c.Recovers), text(&c.Parent), text(&c.Child), &c.Line, text(&full))
	if err != nil {
		return err
	}
	c.Request, c.ArgsItem, c.ResultItem, c.Time = index(request), index(argsItem), index(resultItem), when(at)
	if failed.Valid {
		c.Failed = &failed.Bool
	}
	c.Args = s.Text(args)
	if words, ok := r.texts[full]; ok {
		id := s.Text(words)
		c.Full = &id
	}
	s.Call(c)
	return nil
}

func (r *rebuilder) otherBilled(rows *sql.Rows) error {
	var b rollout.OtherBilled
	var at sql.NullTime
	s, err := r.scan(rows, &b.Kind, &at, text(&b.Provider), text(&b.Model), &b.Usage.Input, &b.Usage.CacheRead, &b.Usage.CacheWrite, &b.Usage.Output, &b.Estimate, &b.Line)
	if err != nil {
		return err
	}
	b.Time = when(at)
	s.Session.OtherBilled = append(s.Session.OtherBilled, b)
	return nil
}

func (r *rebuilder) reported(rows *sql.Rows) error {
	var p rollout.Reported
	u := &p.Usage
	s, err := r.scan(rows, text(&p.Model), &p.Requests, &u.Input, &u.CacheRead, &u.CacheWrite, &u.CacheWrite5m, &u.CacheWrite1h,
		&u.Output, &u.Reasoning, &p.CostUSD, &p.Line)
	if err != nil {
		return err
	}
	s.Session.Reported = append(s.Session.Reported, p)
	return nil
}

func (r *rebuilder) problem(rows *sql.Rows) error {
	var p rollout.Problem
	s, err := r.scan(rows, &p.File, &p.Line, &p.Kind, &p.Detail, &p.Count)
	if err != nil {
		return err
	}
	s.Session.Problems = append(s.Session.Problems, p)
	return nil
}

// text reads a column of text into a string of any name; NULL is "".
func text[T ~string](into *T) sql.Scanner { return nullText[T]{into} }

type nullText[T ~string] struct{ into *T }

// Scan implements sql.Scanner.
func (n nullText[T]) Scan(v any) error {
	var s sql.NullString
	if err := s.Scan(v); err != nil {
		return err
	}
	*n.into = T(s.String)
	return nil
}

func when(t sql.NullTime) time.Time {
	if !t.Valid {
		return time.Time{}
	}
	return t.Time.UTC()
}

func index(n sql.NullInt64) int {
	if !n.Valid {
		return -1
	}
	return int(n.Int64)
}
