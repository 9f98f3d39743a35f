package analyze

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Shipped questions are not looked at like those of users, so here they are.
func TestShippedQuestionsOnlyRead(t *testing.T) {
	questions, err := Questions()
	require.NoError(t, err)
	db := tables{}.open(t)
	for _, q := range questions {
		args, err := q.args(Params{})
		require.NoError(t, err)
		rows, err := db.Query(t.Context(), q.SQL, args...)
		require.NoError(t, err, q.Name)
		require.NoError(t, rows.Close())
	}
}

// kinds says what each shared definition is by now: table or view, and which.
func kinds(t *testing.T, db *DB) map[string]int64 {
	rows, err := db.conn.QueryContext(t.Context(), `SELECT table_name, table_oid FROM duckdb_tables() UNION ALL SELECT view_name, -view_oid FROM duckdb_views() WHERE NOT internal`)
	require.NoError(t, err)
	defer rows.Close()
	all := map[string]int64{}
	for rows.Next() {
		var name string
		var id int64
		require.NoError(t, rows.Scan(&name, &id))
		all[name] = id
	}
	require.NoError(t, rows.Err())
	out := map[string]int64{}
	for _, s := range db.shared {
		for _, name := range s.views {
			if id, ok := all[name]; ok {
				out[name] = id
			}
		}
	}
	return out
}

// An audit plans and runs what its questions share once. That took two thirds of it
// when every question did so by itself.
func TestAnAuditMakesWhatIsSharedOnce(t *testing.T) {
	db := handBuilt().open(t)
	assert.Empty(t, kinds(t, db), "nothing is made before it is asked for")
	first, err := RunAudit(t.Context(), db)
	require.NoError(t, err)
	made := kinds(t, db)
	for _, s := range db.shared {
		for _, name := range s.views {
			assert.Positive(t, made[name], "%s is not a table", name)
		}
	}
	second, err := RunAudit(t.Context(), db)
	require.NoError(t, err)
	assert.Equal(t, first, second)
	assert.Equal(t, made, kinds(t, db), "made anew")
}

// Users' queries find views. A question after them makes tables of those it needs,
// and what it does not need stays.
func TestQuestionsAfterQueries(t *testing.T) {
	db := handBuilt().open(t)
	const carried = "SELECT item, carried_tokens FROM carried_items ORDER BY ALL"
	before := rowsOf(t, db, carried)
	require.NotEmpty(t, before)
	for _, id := range kinds(t, db) {
		assert.Negative(t, id)
	}
	want := ask(t, handBuilt().open(t), "composition", Params{})
	assert.Equal(t, want, ask(t, db, "composition", Params{}))
	assert.Positive(t, kinds(t, db)["carried_items"])
	assert.Negative(t, kinds(t, db)["growth_pairs"])
	assert.Equal(t, before, rowsOf(t, db, carried))
}

// What a question needs is made whole or not at all, and is made later where it
// failed once.
func TestSharedTablesAreWholeOrNotThere(t *testing.T) {
	db := handBuilt().open(t)
	_, err := db.conn.ExecContext(t.Context(), "ALTER TABLE items RENAME TO elsewhere")
	require.NoError(t, err)
	_, err = Ask(t.Context(), db, "composition", Params{})
	require.Error(t, err)
	assert.Empty(t, kinds(t, db), "factors and weights were made before what needs items")
	_, err = db.conn.ExecContext(t.Context(), "ALTER TABLE elsewhere RENAME TO items")
	require.NoError(t, err)
	assert.Equal(t, ask(t, handBuilt().open(t), "composition", Params{}), ask(t, db, "composition", Params{}))
}

// TestLookUpsKeepTheirOrder: whoever looks up weights of requests, or spans of a result
// that was read, does so by an outer join. DuckDB may join the tables of an inner one in
// any order, and by its guesses for 10,000 sessions first took all requests of a chain
// with each other: more temporary files than the 26 GB there were, for 1.7 million rows.
func TestLookUpsKeepTheirOrder(t *testing.T) {
	all, err := readShared()
	require.NoError(t, err)
	looked := regexp.MustCompile(`(?m)^\s*(LEFT )?JOIN (request_weights|spans) [a-z] ON`)
	found := 0
	for _, s := range all {
		if s.name == "sql/shared/2_steps.sql" { // begins from what it looks up: each span ends once
			continue
		}
		for _, m := range looked.FindAllStringSubmatch(s.text, -1) {
			found++
			assert.Equal(t, "LEFT ", m[1], "%s: %s", s.name, m[0])
		}
	}
	assert.Equal(t, 7, found, "two in carried, one in overlapping reads, two each in polling episodes and notifications")
}
