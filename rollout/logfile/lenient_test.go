package logfile

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLenientMembersNeverCostTheRecord(t *testing.T) {
	for text, want := range map[string]Lenient[int64]{
		`{"n":7}`:           {V: 7, OK: true},
		`{"n":0}`:           {OK: true},
		`{"n":null}`:        {},
		`{}`:                {},
		`{"n":"seven"}`:     {Odd: true},
		`{"n":{"a":[1]}}`:   {Odd: true},
		`{"n":7,"n":"odd"}`: {Odd: true}, // the last one counts
		`{"n":"odd","n":7}`: {V: 7, OK: true},
	} {
		var r struct {
			N    Lenient[int64]  `json:"n"`
			Rest Lenient[string] `json:"rest"`
		}
		require.NoError(t, Unmarshal([]byte(text), &r), text)
		assert.Equal(t, want, r.N, text)
	}
}
