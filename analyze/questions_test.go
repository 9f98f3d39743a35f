package analyze

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEveryQuestionIsListedAndDocumented(t *testing.T) {
	questions, err := Questions()
	require.NoError(t, err)
	var listed []string
	for _, q := range questions {
		listed = append(listed, q.Name)
		assert.NotEmpty(t, q.Title, q.Name)
		assert.NotContains(t, q.Title, ".", "%s: the title is a heading", q.Name)
		assert.NotEmpty(t, q.Doc, q.Name)
		assert.NotEmpty(t, q.Columns, q.Name)
		assert.NotContains(t, q.SQL, ";", "%s: one query", q.Name)
	}
	files, err := filepath.Glob("sql/*.sql")
	require.NoError(t, err)
	var names []string
	for _, file := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(file), ".sql"))
	}
	assert.Equal(t, names, listed)
}

// Every question must run where there is nothing, and its columns must be the
// documented ones in the documented order.
func TestEveryQuestionRuns(t *testing.T) {
	questions, err := Questions()
	require.NoError(t, err)
	for name, data := range map[string]tables{"empty": {}, "hand-built": handBuilt()} {
		db := data.open(t)
		for _, q := range questions {
			t.Run(name+"/"+q.Name, func(t *testing.T) {
				rows, err := Ask(context.Background(), db, q.Name, Params{})
				require.NoError(t, err)
				defer rows.Close()
				columns, err := rows.Columns()
				require.NoError(t, err)
				var documented []string
				for _, c := range q.Columns {
					documented = append(documented, c.Name)
				}
				assert.Equal(t, documented, columns)
				for rows.Next() {
				}
				require.NoError(t, rows.Err())
			})
		}
	}
}

func TestUnknownQuestion(t *testing.T) {
	_, err := FindQuestion("no-such-question")
	assert.ErrorContains(t, err, "no-such-question")
}
