package analyze

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/analyze/dataset"
)

func num[T any](v T) *T { return &v }

// day is a time on the given day of January 2026, in Unix milliseconds.
func day(d, hour int) int64 {
	return time.Date(2026, 1, d, hour, 0, 0, 0, time.UTC).UnixMilli()
}

// session makes a part of one session row.
func session(source, id string, started int64) *dataset.Rows {
	return &dataset.Rows{Sessions: []dataset.Session{{
		Part: "part-of-" + id, SessionID: id, Source: source, File: "/logs/" + id, StartedAt: known(started),
		EndedAt: ptr(started + 3_600_000), Records: 10, Encoding: "o200k_base", HasText: true, Importer: "1",
	}}}
}

// addRequest adds a request to the first session of a part.
func addRequest(rows *dataset.Rows, response string, change func(*dataset.Request)) {
	s := rows.Sessions[0]
	n := int64(len(rows.Requests))
	r := dataset.Request{
		Part: s.Part, SessionID: s.SessionID, RequestIndex: n, Request: n + 1, Kind: "turn", Run: 1, Attempt: 1,
		ResponseID: known(response), Status: "answered", Model: ptr("m"), InputTokens: num(int64(100)), OutputTokens: num(int64(10)),
	}
	if change != nil {
		change(&r)
	}
	rows.Requests = append(rows.Requests, r)
}

func write(t *testing.T, dir string, parts ...*dataset.Rows) {
	t.Helper()
	for _, p := range parts {
		require.NoError(t, dataset.WritePart(dir, p))
	}
}

func open(t *testing.T, o Options) *DB {
	t.Helper()
	db, err := Open(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, db.Close()) })
	return db
}

// rowsOf renders a result, one string per row.
func rowsOf(t *testing.T, db *DB, query string, args ...any) []string {
	t.Helper()
	rows, err := db.Query(t.Context(), query, args...)
	require.NoError(t, err, query)
	defer rows.Close()
	names, err := rows.Columns()
	require.NoError(t, err)
	out := []string{}
	for rows.Next() {
		values := make([]any, len(names))
		into := make([]any, len(names))
		for i := range values {
			into[i] = &values[i]
		}
		require.NoError(t, rows.Scan(into...))
		out = append(out, strings.Trim(fmt.Sprint(values), "[]"))
	}
	require.NoError(t, rows.Err())
	return out
}

func TestEmptyDatasetHasAllTables(t *testing.T) {
	dir := t.TempDir()
	_, err := dataset.Import(t.Context(), dir, nil, dataset.Options{})
	require.NoError(t, err)
	db := open(t, Options{Dataset: dir})
	for _, table := range []string{"sessions", "requests", "items", "spans", "calls", "texts", "other_billed", "reported", "calibration", "problems", "prices", "session_tree"} {
		assert.Equal(t, []string{"0"}, rowsOf(t, db, "SELECT count(*) FROM "+table), table)
	}
}

func TestOpenRefusesWhatIsNoDataset(t *testing.T) {
	_, err := Open(t.Context(), Options{Dataset: t.TempDir()})
	assert.ErrorContains(t, err, "is not an fclog dataset")
}

// enlarge has a dataset opened as a large one, whose files stay where they are.
func enlarge(t *testing.T, dir string) {
	t.Helper()
	require.True(t, isSmall(dir))
	padding := filepath.Join(dir, "sessions", "padding")
	require.NoError(t, os.WriteFile(padding, nil, 0o600))
	require.NoError(t, os.Truncate(padding, smallBytes+1))
	require.False(t, isSmall(dir))
}

func TestPathWithSpecialCharacters(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "it's [a]*? folder")
	p := session("codex", "a", day(1, 0))
	addRequest(p, "r1", nil)
	write(t, dir, p)
	for i, sel := range []Selection{{}, {Session: "a"}, {}, {Session: "a"}} {
		if i == 2 {
			enlarge(t, dir)
		}
		db := open(t, Options{Dataset: dir, Selection: sel})
		assert.Equal(t, []string{"codex 2026-01 a"}, rowsOf(t, db, "SELECT source, month, session_id FROM sessions"))
		assert.Equal(t, []string{"codex r1 true"}, rowsOf(t, db, "SELECT source, response_id, counts FROM requests"))
	}
}

func TestPartWithoutSessionsRowIsInvisible(t *testing.T) {
	dir := t.TempDir()
	a, half := session("codex", "a", day(1, 0)), session("codex", "b", day(1, 0))
	addRequest(a, "r1", nil)
	addRequest(half, "r2", nil)
	half.Texts = []dataset.Text{{Part: half.Sessions[0].Part, SessionID: "b", TextHash: "h", Text: "x"}}
	write(t, dir, a, half)
	require.NoError(t, os.Remove(filepath.Join(dir, "sessions", "source=codex", "month=2026-01", "part-of-b.parquet")))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "_tmp", "123-left"), 0o700))
	db := open(t, Options{Dataset: dir})
	assert.Equal(t, []string{"a"}, rowsOf(t, db, "SELECT session_id FROM requests"))
	assert.Equal(t, []string{"0"}, rowsOf(t, db, "SELECT count(*) FROM texts"))
}

func TestCurrentPartOfASession(t *testing.T) {
	dir := t.TempDir()
	short, long, inherited := session("codex", "a", day(1, 0)), session("codex", "a", day(1, 0)), session("codex", "a", day(1, 0))
	short.Sessions[0].Part, long.Sessions[0].Part, inherited.Sessions[0].Part = "1short", "2long", "3inherited"
	addRequest(short, "r1", nil)
	addRequest(long, "r1", nil)
	addRequest(long, "r2", nil)
	for _, r := range []string{"r1", "r2", "r3"} {
		addRequest(inherited, r, func(q *dataset.Request) { q.Inherited = true })
	}
	write(t, dir, long, inherited, short)
	db := open(t, Options{Dataset: dir})
	assert.Equal(t, []string{"2long"}, rowsOf(t, db, "SELECT part FROM sessions"), "most requests of its own")
	assert.Equal(t, []string{"2 200"}, rowsOf(t, db, "SELECT count(*), sum(input_tokens)::BIGINT FROM requests WHERE counts"))
}

// A fork copies r1 from its parent; which is written first must not matter.
func TestOwnershipInAnyOrder(t *testing.T) {
	parent, fork, other := session("claude-code", "z-parent", day(1, 0)), session("claude-code", "a-fork", day(2, 0)), session("claude-code", "b", 0)
	addRequest(parent, "r1", nil)
	addRequest(parent, "r2", nil)
	addRequest(fork, "r1", nil)
	addRequest(fork, "r3", nil)
	addRequest(fork, "r2", func(r *dataset.Request) { r.Inherited = true })
	addRequest(other, "", nil)
	addRequest(other, "", nil)
	addRequest(other, "r3", nil)
	for i, q := range []*int64{num(int64(0)), num(int64(1)), nil} {
		fork.Calls = append(fork.Calls, dataset.Call{
			Part: fork.Sessions[0].Part, SessionID: "a-fork", Call: int64(i), CallID: fmt.Sprint(i), Tool: "t", Class: "other", RequestIndex: q,
		})
	}
	fork.Calls = append(fork.Calls, dataset.Call{Part: fork.Sessions[0].Part, SessionID: "a-fork", Call: 3, CallID: "3", Tool: "t", Class: "other", Inherited: true})
	for _, order := range [][]*dataset.Rows{{parent, fork, other}, {other, fork, parent}, {fork, other, parent}} {
		dir := t.TempDir()
		write(t, dir, order...)
		db := open(t, Options{Dataset: dir})
		assert.Equal(t, []string{
			"a-fork 0 false", "a-fork 1 true", "a-fork 2 false",
			"b 0 true", "b 1 true", "b 2 false", // r3 is the fork's: a known start comes before an unknown one
			"z-parent 0 true", "z-parent 1 true",
		}, rowsOf(t, db, "SELECT session_id, request_index, counts FROM requests ORDER BY 1, 2"))
		assert.Equal(t, []string{"0 false", "1 true", "2 true", "3 false"}, rowsOf(t, db, "SELECT call, counts FROM calls ORDER BY 1"))
	}
}

// Ownership is a matter of the whole dataset: a copy does not begin to count
// because its owner is not selected.
func TestOwnershipIgnoresTheSelection(t *testing.T) {
	dir := t.TempDir()
	parent, fork := session("claude-code", "parent", day(1, 0)), session("claude-code", "fork", day(2, 0))
	addRequest(parent, "r1", nil)
	addRequest(fork, "r1", nil)
	addRequest(fork, "r2", nil)
	write(t, dir, parent, fork)
	db := open(t, Options{Dataset: dir, Selection: Selection{Session: "fork"}})
	assert.Equal(t, []string{"r1 false", "r2 true"}, rowsOf(t, db, "SELECT response_id, counts FROM requests ORDER BY 1"))
}

func TestTextsAreUnique(t *testing.T) {
	dir := t.TempDir()
	a, b := session("codex", "a", day(1, 0)), session("codex", "b", day(1, 0))
	a.Texts = []dataset.Text{{Part: "part-of-a", SessionID: "a", TextHash: "h1", Text: "one"}, {Part: "part-of-a", SessionID: "a", TextHash: "h2", Text: "two"}}
	b.Texts = []dataset.Text{{Part: "part-of-b", SessionID: "b", TextHash: "h1", Text: "one"}}
	write(t, dir, a, b)
	db := open(t, Options{Dataset: dir})
	assert.Equal(t, []string{"h1 one", "h2 two"}, rowsOf(t, db, "SELECT * FROM texts ORDER BY 1"))
	assert.Equal(t, []string{"two"}, rowsOf(t, db, "SELECT text FROM texts WHERE text_hash = ?", "h2"))
}

func TestCost(t *testing.T) {
	full := Price{Model: "m", Input: num(10.0), CacheRead: num(1.0), CacheWrite5m: num(12.5), CacheWrite1h: num(20.0), Output: num(50.0)}
	long := full
	long.LongAbove, long.Long = num(int64(150)), LongPrice{Input: num(20.0), Output: num(75.0)}
	noCache := Price{Model: "m", Input: num(10.0), Output: num(50.0)}
	usage := func(input, read, write, w5, w1, output *int64) func(*dataset.Request) {
		return func(r *dataset.Request) {
			r.InputTokens, r.CacheReadTokens, r.CacheWriteTokens = input, read, write
			r.CacheWrite5mTokens, r.CacheWrite1hTokens, r.OutputTokens = w5, w1, output
		}
	}
	n := func(v int64) *int64 { return &v }
	tests := []struct {
		name   string
		prices []Price
		change func(*dataset.Request)
		micro  *float64 // USD × 10⁶: tokens × USD per million
	}{
		{"plain input and output", []Price{full}, usage(n(100), nil, nil, nil, nil, n(10)), num(100*10 + 10*50.0)},
		{"cache read at its own price", []Price{full}, usage(n(100), n(60), n(0), nil, nil, n(10)), num(40*10 + 60*1 + 10*50.0)},
		{"writes split by lifetime", []Price{full}, usage(n(100), n(20), n(50), n(30), n(20), n(0)), num(30*10 + 20*1 + 30*12.5 + 20*20.0)},
		{"unknown split of writes is 5 minutes", []Price{full}, usage(n(100), nil, n(50), nil, nil, n(0)), num(50*10 + 50*12.5)},
		{"partly known split", []Price{full}, usage(n(100), nil, n(50), nil, n(20), n(0)), num(50*10 + 30*12.5 + 20*20.0)},
		{"split without its sum", []Price{full}, usage(n(100), nil, nil, n(30), n(20), n(0)), num(50*10 + 30*12.5 + 20*20.0)},
		{"long tier, missing tier prices are the plain ones", []Price{long}, usage(n(200), n(100), nil, nil, nil, n(10)), num(100*20 + 100*1 + 10*75.0)},
		{"at the border of the long tier", []Price{long}, usage(n(150), n(100), nil, nil, nil, n(10)), num(50*10 + 100*1 + 10*50.0)},
		{"no input", []Price{full}, usage(nil, nil, nil, nil, nil, n(10)), nil},
		{"no output", []Price{full}, usage(n(100), nil, nil, nil, nil, nil), nil},
		{"zero usage costs nothing", []Price{full}, usage(n(0), n(0), n(0), nil, nil, n(0)), num(0.0)},
		{"unknown price of tokens used", []Price{noCache}, usage(n(100), n(60), nil, nil, nil, n(10)), nil},
		{"unknown price of tokens not used", []Price{noCache}, usage(n(100), n(0), nil, nil, nil, n(10)), num(100*10 + 10*50.0)},
		{"unknown model", nil, nil, nil},
		{"longer name is another model", []Price{{Model: "m-2", Input: num(1.0), Output: num(1.0)}}, nil, nil},
		{"shorter name is another model", []Price{full}, func(r *dataset.Request) { r.Model = ptr("m-mini") }, nil},
		{"subscription", []Price{full}, func(r *dataset.Request) { r.Subscription = true }, nil},
		{"bare model", []Price{full}, func(r *dataset.Request) { r.Model = ptr("vendor/m") }, num(100*10 + 10*50.0)},
		{"exact key before bare model", []Price{full, {Model: "vendor/m", Input: num(1.0), Output: num(1.0)}}, func(r *dataset.Request) { r.Model = ptr("vendor/m") }, num(110.0)},
		{"provider before any provider", []Price{full, {Provider: "p", Model: "m", Input: num(1.0), Output: num(1.0)}}, func(r *dataset.Request) { r.Provider = ptr("p") }, num(110.0)},
		{"provider in the key", []Price{full, {Model: "p/m", Input: num(1.0), Output: num(1.0)}}, func(r *dataset.Request) { r.Provider = ptr("p") }, num(110.0)},
		{"another provider's price", []Price{{Provider: "q", Model: "m", Input: num(1.0), Output: num(1.0)}}, func(r *dataset.Request) { r.Provider = ptr("p") }, nil},
		{"only priced by a provider, provider unknown", []Price{{Provider: "q", Model: "m", Input: num(1.0), Output: num(1.0)}}, nil, num(110.0)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			p := session("codex", "a", day(1, 0))
			addRequest(p, "", tt.change)
			write(t, dir, p)
			db := open(t, Options{Dataset: dir, Prices: tt.prices})
			var cost *float64
			rows, err := db.Query(t.Context(), "SELECT cost_usd FROM requests")
			require.NoError(t, err)
			defer rows.Close()
			require.True(t, rows.Next())
			require.NoError(t, rows.Scan(&cost))
			assert.False(t, rows.Next())
			if tt.micro == nil {
				assert.Nil(t, cost)
				return
			}
			require.NotNil(t, cost)
			assert.InDelta(t, *tt.micro/1e6, *cost, 1e-12)
		})
	}
}

func TestSelection(t *testing.T) {
	dir := t.TempDir()
	a, b, c, sub := session("codex", "aa1", day(1, 0)), session("codex", "aa2", day(2, 0)), session("freecode", "bb1", day(3, 0)), session("freecode", "sub", day(4, 0))
	none := session("freecode", "no-time", 0)
	none.Sessions[0].EndedAt = nil
	a.Sessions[0].Models, a.Sessions[0].CWD = []string{"gpt-5"}, ptr("/home/u/Project-One")
	b.Sessions[0].Models, b.Sessions[0].CWD = []string{"gpt-5-mini", "openai/GPT-5"}, ptr("/home/u/two")
	sub.Sessions[0].ParentSessionID = ptr("bb1")
	write(t, dir, a, b, c, sub, none)
	at := func(d, h int) time.Time { return time.UnixMilli(day(d, h)) }
	tests := []struct {
		name string
		sel  Selection
		want string
	}{
		{"all", Selection{}, "aa1 aa2 bb1 no-time sub"},
		{"since, inside a session", Selection{Since: at(2, 0).Add(30 * time.Minute)}, "aa2 bb1 sub"},
		{"since, after a session", Selection{Since: at(2, 2)}, "bb1 sub"},
		{"until, at the start of a session", Selection{Until: at(2, 0)}, "aa1"},
		{"between", Selection{Since: at(2, 0), Until: at(3, 1)}, "aa2 bb1"},
		{"agent", Selection{Agent: "codex"}, "aa1 aa2"},
		{"model, bare and whatever case", Selection{Model: "gpt-5"}, "aa1 aa2"},
		{"model with provider", Selection{Model: "openai/gpt-5"}, "aa2"},
		{"project", Selection{Project: "project-one"}, "aa1"},
		{"session prefix", Selection{Session: "aa"}, "aa1 aa2"},
		{"last family, with its sub-agent", Selection{Last: 1}, "bb1 sub"},
		{"last two", Selection{Last: 2}, "aa2 bb1 sub"},
		{"last of an agent", Selection{Last: 1, Agent: "codex"}, "aa2"},
		{"a value is no SQL", Selection{Project: "' OR true --"}, ""},
		{"nor a pattern", Selection{Session: "%"}, ""},
	}
	check := func(t *testing.T) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				db := open(t, Options{Dataset: dir, Selection: tt.sel})
				assert.Equal(t, tt.want, strings.Join(rowsOf(t, db, "SELECT session_id FROM sessions ORDER BY 1"), " "))
			})
		}
	}
	t.Run("small", check)
	enlarge(t, dir)
	t.Run("large", check)
}

func TestSessionTree(t *testing.T) {
	dir := t.TempDir()
	root, logged, named, spawned, late := session("freecode", "root", day(1, 0)), session("freecode", "logged", day(1, 1)),
		session("freecode", "named", day(1, 2)), session("freecode", "spawned", day(1, 3)), session("freecode", "late", day(1, 9))
	logged.Sessions[0].ParentSessionID, logged.Sessions[0].ParentCallID = ptr("root"), ptr("c9")
	spawned.Sessions[0].SpawnedAt = ptr(day(1, 3))
	late.Sessions[0].SpawnedAt = ptr(day(1, 9))
	call := func(p *dataset.Rows, id, class string, at int64, hours int64, child string) {
		p.Calls = append(p.Calls, dataset.Call{Part: p.Sessions[0].Part, SessionID: p.Sessions[0].SessionID, Call: int64(len(p.Calls)),
			CallID: id, Tool: "agent", Class: class, Time: ptr(at), DurationMS: num(hours * 3_600_000), ChildSession: known(child)})
	}
	call(root, "c1", "agent", day(1, 2), 6, "")
	call(root, "c2", "agent", day(1, 2), 1, "named")
	call(root, "c3", "shell", day(1, 3), 9, "")
	call(logged, "c4", "agent", day(1, 3), 1, "") // began later than c1: the closer one
	write(t, dir, root, logged, named, spawned, late)
	db := open(t, Options{Dataset: dir})
	assert.Equal(t, []string{
		"late <nil> <nil> <nil> late 0",
		"logged root c9 logged root 1",
		"named root c2 call root 1",
		"root <nil> <nil> <nil> root 0",
		"spawned logged c4 window root 2",
	}, rowsOf(t, db, "SELECT session_id, parent_session_id, parent_call_id, basis, root_session_id, depth FROM session_tree ORDER BY 1"))
}

// The sub-agent's log names its parent, the parent's call the sub-agent: together
// they say which call it was. A later call only talks to it, and a call of another
// session that names it says nothing against its own log.
func TestSessionTreeJoinsWhatBothLogsSay(t *testing.T) {
	dir := t.TempDir()
	root, child, deep, other, orphan := session("codex", "root", day(1, 0)), session("codex", "child", day(1, 1)),
		session("codex", "deep", day(1, 2)), session("codex", "other", day(1, 0)), session("codex", "orphan", day(1, 4))
	child.Sessions[0].ParentSessionID, deep.Sessions[0].ParentSessionID = ptr("root"), ptr("child")
	orphan.Sessions[0].ParentSessionID = ptr("not here")
	call := func(p *dataset.Rows, id string, at int64, names string) {
		p.Calls = append(p.Calls, dataset.Call{Part: p.Sessions[0].Part, SessionID: p.Sessions[0].SessionID, Call: int64(len(p.Calls)),
			CallID: id, Tool: "agent", Class: "agent", Ran: true, Time: ptr(at), DurationMS: num(int64(1000)), ChildSession: known(names)})
	}
	call(root, "spawn", day(1, 1), "child")
	call(root, "talk", day(1, 3), "child")
	call(child, "spawn", day(1, 2), "deep")
	call(other, "resume", day(1, 0), "child")
	// Neither log says which call, only when: the last one before it that names no other.
	late := session("codex", "late", day(1, 5))
	late.Sessions[0].ParentSessionID, late.Sessions[0].SpawnedAt = ptr("child"), ptr(day(1, 5)+14)
	call(child, "early", day(1, 5)-60_000, "")
	call(child, "right", day(1, 5), "")
	child.Calls[len(child.Calls)-1].DurationMS = nil
	call(child, "named", day(1, 5)+5, "someone")
	for i, s := range []*dataset.Rows{root, child, deep, other, orphan, late} {
		addRequest(s, "", asked(int64(i), 100, 5))
	}
	write(t, dir, root, child, deep, other, orphan, late)
	db := open(t, Options{Dataset: dir})
	assert.Equal(t, []string{
		"child root spawn logged root 1",
		"deep child spawn logged root 2",
		"late child right logged root 2",
		"orphan not here <nil> logged not here 1",
		"other <nil> <nil> <nil> other 0",
		"root <nil> <nil> <nil> root 0",
	}, rowsOf(t, db, "SELECT session_id, parent_session_id, parent_call_id, basis, root_session_id, depth FROM session_tree ORDER BY 1"))

	a, err := RunAudit(t.Context(), db)
	require.NoError(t, err)
	var got []string
	for _, s := range a.Sessions {
		got = append(got, fmt.Sprint(s.SessionID, " ", *s.Own.InputTokens, " ", *s.Inclusive.InputTokens, " ", s.Inclusive.Sessions))
	}
	assert.ElementsMatch(t, []string{"root 100 400 4", "child 100 300 3", "deep 100 100 1", "late 100 100 1", "other 100 100 1", "orphan 100 100 1"}, got)
	assert.Equal(t, "sub-agent 4, turn 2", fmt.Sprintf("%s %d, %s %d", a.Kinds[0].Kind, a.Kinds[0].Requests, a.Kinds[1].Kind, a.Kinds[1].Requests))
	assert.Equal(t, int64(2), a.LeftOut.SubAgentSessions, "of the calls early and named")
}

func TestSessionTreeSurvivesCycles(t *testing.T) {
	dir := t.TempDir()
	a, b, self := session("codex", "a", day(1, 0)), session("codex", "b", day(1, 0)), session("codex", "self", day(1, 0))
	a.Sessions[0].ParentSessionID, b.Sessions[0].ParentSessionID, self.Sessions[0].ParentSessionID = ptr("b"), ptr("a"), ptr("self")
	write(t, dir, a, b, self)
	db := open(t, Options{Dataset: dir})
	assert.Equal(t, []string{"3"}, rowsOf(t, db, "SELECT count(*) FROM session_tree"))
	assert.Equal(t, []string{"<nil> self 0"}, rowsOf(t, db, "SELECT parent_session_id, root_session_id, depth FROM session_tree WHERE session_id = 'self'"))
	_, err := RunAudit(t.Context(), db)
	assert.NoError(t, err)
}

func TestQueryOnlyReads(t *testing.T) {
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "secret.csv")
	require.NoError(t, os.WriteFile(outside, []byte("a\n1\n"), 0o600))
	p := session("codex", "a", day(1, 0))
	write(t, dir, p)
	db := open(t, Options{Dataset: dir})
	refused := map[string]string{
		"insert":              "INSERT INTO sessions SELECT * FROM sessions",
		"create":              "CREATE TABLE x AS SELECT 1",
		"drop":                "DROP TABLE sessions",
		"copy out":            "COPY sessions TO '" + filepath.Join(dir, "out.csv") + "'",
		"copy in an explain":  "EXPLAIN ANALYZE COPY sessions TO '" + filepath.Join(dir, "out.csv") + "'",
		"attach":              "ATTACH '" + filepath.Join(dir, "x.db") + "'",
		"export in a comment": "/* SELECT */ EXPORT DATABASE '" + filepath.Join(dir, "x") + "'",
		"export":              "EXPORT DATABASE '" + filepath.Join(dir, "x") + "'",
		"set":                 "SET enable_external_access = true",
		"set variable":        "SET VARIABLE x = 1",
		"install":             "INSTALL httpfs",
		"load":                "LOAD httpfs",
		"two statements":      "SELECT 1; DROP TABLE sessions",
		"two selects":         "SELECT 1; SELECT 2",
		"read outside":        "SELECT * FROM read_csv('" + outside + "')",
		"read as text":        "SELECT * FROM read_text('" + outside + "')",
		"climb out":           "SELECT * FROM read_text('" + filepath.Join(dir, "..") + "/../*/secret.csv')",
		"list files":          "SELECT * FROM glob('" + filepath.Dir(outside) + "/*')",
		"by name":             "SELECT * FROM '" + outside + "'",
		"network":             "SELECT * FROM read_csv('https://localhost:1/x.csv')",
		"execute through sql": "SELECT * FROM query('DROP TABLE sessions')",
		"pragma":              "PRAGMA database_list",
		"call":                "CALL pragma_version()",
		"vacuum":              "VACUUM",
		"nothing":             "",
	}
	for name, query := range refused {
		rows, err := db.Query(t.Context(), query)
		if err == nil {
			for rows.Next() {
			}
			err = rows.Err()
			rows.Close()
		}
		assert.Error(t, err, name)
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		assert.NotContains(t, []string{"out.csv", "x.db", "x"}, e.Name())
	}
	for _, query := range []string{
		"SELECT count(*) FROM sessions", "FROM sessions", "WITH x AS (SELECT 1 AS a) SELECT a FROM x", "DESCRIBE sessions", "SHOW TABLES",
		"SUMMARIZE sessions", "VALUES (1)", "-- why\n/* and\nhow */ (SELECT 1)", "SELECT count(*) FROM sessions;",
	} {
		rows, err := db.Query(t.Context(), query)
		if assert.NoError(t, err, query) {
			rows.Close()
		}
	}
	_, err = db.Query(t.Context(), "SELECT 1; SELECT 2")
	assert.ErrorIs(t, err, ErrNotQuery)
	_, err = db.Query(t.Context(), "PIVOT sessions ON source USING count(*)")
	assert.ErrorIs(t, err, ErrNotQuery)
	assert.ErrorContains(t, err, "ON source IN (", "one that works is shown")
	_, err = db.Query(t.Context(), "SELECT nonsense FROM sessions")
	assert.ErrorContains(t, err, "nonsense")
}

func TestZone(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, session("codex", "a", day(1, 23)))
	zone, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	day := "SELECT strftime(date_trunc('day', started_at), '%Y-%m-%d') FROM sessions"
	assert.Equal(t, []string{"2026-01-01"}, rowsOf(t, open(t, Options{Dataset: dir}), day))
	assert.Equal(t, []string{"2026-01-02"}, rowsOf(t, open(t, Options{Dataset: dir, TZ: zone}), day))
}

func TestCancelledOpen(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, session("codex", "a", day(1, 0)))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Open(ctx, Options{Dataset: dir})
	assert.ErrorIs(t, err, context.Canceled)
}

// Every column of every table comes back as it was written, NULLs included.
func TestEveryColumnReadsBack(t *testing.T) {
	dir := t.TempDir()
	full, empty := filled(t, "full", true), filled(t, "empty", false)
	write(t, dir, full, empty)
	db := open(t, Options{Dataset: dir})
	for table, rows := range map[string][2]any{
		"sessions": {full.Sessions[0], empty.Sessions[0]}, "requests": {full.Requests[0], empty.Requests[0]},
		"items": {full.Items[0], empty.Items[0]}, "spans": {full.Spans[0], empty.Spans[0]}, "calls": {full.Calls[0], empty.Calls[0]},
		"other_billed": {full.OtherBilled[0], empty.OtherBilled[0]}, "reported": {full.Reported[0], empty.Reported[0]}, "calibration": {full.Calibrations[0], empty.Calibrations[0]},
		"problems": {full.Problems[0], empty.Problems[0]}, "raw_texts": {full.Texts[0], empty.Texts[0]},
	} {
		for i, part := range []string{"full", "empty"} {
			compareRow(t, db, table, part, rows[i])
		}
	}
}

// filled makes a part with one row per table: every column set, or only those
// that are never NULL.
func filled(t *testing.T, part string, optional bool) *dataset.Rows {
	rows := &dataset.Rows{}
	v := reflect.ValueOf(rows).Elem()
	count := int64(0)
	for i := range v.NumField() {
		row := reflect.New(v.Field(i).Type().Elem()).Elem()
		for j := range row.NumField() {
			count++
			tag := row.Type().Field(j).Tag.Get("parquet")
			if !optional && strings.Contains(tag, ",optional") {
				continue
			}
			fill(t, row.Field(j), count)
		}
		row.FieldByName("Part").SetString(part)
		row.FieldByName("SessionID").SetString(part)
		if source := row.FieldByName("Source"); source.IsValid() {
			source.SetString("codex")
		}
		v.Field(i).Set(reflect.Append(v.Field(i), row))
	}
	if rows.Sessions[0].Superseded != nil {
		rows.Sessions[0].Superseded = new(bool) // superseded sessions are in no view
	}
	return rows
}

func fill(t *testing.T, f reflect.Value, n int64) {
	switch f.Kind() {
	case reflect.String:
		f.SetString(fmt.Sprintf("value %d é", n))
	case reflect.Int64:
		f.SetInt(1_700_000_000_000 + n)
	case reflect.Float64:
		f.SetFloat(float64(n) + 0.25)
	case reflect.Bool:
		f.SetBool(true)
	case reflect.Pointer:
		f.Set(reflect.New(f.Type().Elem()))
		fill(t, f.Elem(), n)
	case reflect.Slice:
		f.Set(reflect.ValueOf([]string{fmt.Sprintf("first %d", n), "second"}))
	default:
		t.Fatalf("no value for %s", f.Type())
	}
}

func compareRow(t *testing.T, db *DB, table, part string, row any) {
	t.Helper()
	v := reflect.ValueOf(row)
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag.Get("parquet")
		name, _, _ := strings.Cut(tag, ",")
		want := v.Field(i).Interface()
		if strings.Contains(tag, ",optional") && v.Field(i).IsZero() {
			want = nil
		} else if v.Field(i).Kind() == reflect.Pointer {
			want = v.Field(i).Elem().Interface()
		}
		column := `"` + name + `"`
		if strings.Contains(tag, "timestamp") {
			column = "epoch_ms(" + column + ")"
		}
		if v.Field(i).Kind() == reflect.Slice {
			column, want = "array_to_string("+column+", '|')", strings.Join(want.([]string), "|")
		}
		rows, err := db.Query(t.Context(), "SELECT "+column+" FROM "+table+" WHERE part = ?", part)
		require.NoError(t, err)
		require.True(t, rows.Next(), "%s has no row of part %s", table, part)
		var got any
		require.NoError(t, rows.Scan(&got))
		rows.Close()
		assert.Equal(t, want, got, "%s.%s of part %s", table, name, part)
	}
}
