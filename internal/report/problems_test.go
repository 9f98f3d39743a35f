package report

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/analyze"
)

// Equal problems of several files are one row; JSON keeps them apart.
func TestEqualProblemsOfFilesAreOneRow(t *testing.T) {
	one := analyze.Problem{Kind: "requests-estimated", Detail: "borders are told by time"}
	var list []analyze.Problem
	for _, file := range []string{"/logs/a", "/logs/b", "/logs/c", "/logs/a"} {
		p := one
		p.File, p.Count = file, 2
		list = append(list, p)
	}
	list = append(list, analyze.Problem{File: "/logs/a", Kind: "bad-json", Line: 3, Detail: "no JSON"})
	s := problems(&analyze.Audit{Problems: list}, Options{})
	require.Len(t, s.table.rows, 2)
	cells := s.table.rows[0].cells
	assert.Equal(t, number(8), cells[2], "4 problems of 2 each")
	assert.Equal(t, plain("borders are told by time; in 3 files, the first is named"), cells[3])
	assert.Equal(t, plain("no JSON"), s.table.rows[1].cells[3])
	assert.Len(t, list, 5, "the audit itself keeps every one")
}
