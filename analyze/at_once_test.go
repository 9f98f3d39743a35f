package analyze

import (
	"context"
	"database/sql"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAtOnceTakesEveryStepOnce(t *testing.T) {
	var sum atomic.Int64
	var steps []step
	for i := range 10 {
		steps = append(steps, func(context.Context, *sql.Conn) error {
			sum.Add(1 << i)
			return nil
		})
	}
	require.NoError(t, atOnce(t.Context(), []*sql.Conn{nil, nil}, steps))
	assert.EqualValues(t, 1<<10-1, sum.Load(), "each of ten steps has a bit of its own")
}

func TestAtOnceStopsAtAnError(t *testing.T) {
	broken := errors.New("broken")
	after := 0
	steps := []step{
		func(context.Context, *sql.Conn) error { return broken },
		func(context.Context, *sql.Conn) error { after++; return nil },
	}
	assert.ErrorIs(t, atOnce(t.Context(), []*sql.Conn{nil}, steps), broken)
	assert.Zero(t, after)
}

func TestSetUpFilesOfOneNumberStandTogether(t *testing.T) {
	numbers, err := setUpFiles()
	require.NoError(t, err)
	for number, names := range numbers {
		for _, name := range names {
			assert.Contains(t, name, "sql/views/"+string(rune('0'+number))+"_")
		}
	}
}
