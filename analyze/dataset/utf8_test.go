package dataset

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestValidStrings(t *testing.T) {
	bad, good := "a\xffb", "é"
	models := []string{"m", bad}
	rows := &Rows{Sessions: []Session{{SessionID: bad, Agent: &bad, CWD: &good, Models: models}}, Texts: []Text{{Text: bad}, {Text: good}}}
	rows.validStrings()
	s := rows.Sessions[0]
	assert.Equal(t, []string{"a\ufffdb", "a\ufffdb", "é"}, []string{s.SessionID, *s.Agent, *s.CWD})
	assert.Equal(t, []string{"m", "a\ufffdb"}, s.Models)
	assert.Equal(t, []string{"m", "a\xffb"}, models, "the session keeps its own")
	assert.Equal(t, "a\xffb", bad)
	assert.Equal(t, []Text{{Text: "a\ufffdb"}, {Text: "é"}}, rows.Texts)
}
