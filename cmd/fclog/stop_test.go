package main

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestAtOnce(t *testing.T) {
	t.Parallel()
	v, err := atOnce(t.Context(), func() (int, error) { return 7, nil })
	assert.Equal(t, 7, v)
	assert.NoError(t, err)
	_, err = atOnce(t.Context(), func() (int, error) { return 0, errors.New("broken") })
	assert.EqualError(t, err, "broken")
	assert.Panics(t, func() { _, _ = atOnce(t.Context(), func() (int, error) { panic("a bug") }) })

	ctx, stop := context.WithCancel(t.Context())
	stuck := make(chan struct{})
	defer close(stuck)
	time.AfterFunc(10*time.Millisecond, stop)
	begun := time.Now()
	_, err = atOnce(ctx, func() (int, error) { <-stuck; return 1, nil })
	assert.ErrorIs(t, err, context.Canceled)
	assert.Less(t, time.Since(begun), 10*time.Second)

	// What stops by itself in time has its own say.
	v, err = atOnce(ctx, func() (int, error) { <-ctx.Done(); return 2, nil })
	assert.Equal(t, 2, v)
	assert.NoError(t, err)
}

func TestDecimal(t *testing.T) {
	t.Parallel()
	for want, v := range map[string]float64{"0": 0, "0.5": 0.5, "0.0385963": 0.03859631, "999999": 999_999.4, "1,000,000": 999_999.6,
		"-2,277,752": -2_277_752, "1e+15": 1e15, "1e-09": 1e-9} {
		assert.Equal(t, want, decimal(v))
	}
}

func TestInstalled(t *testing.T) {
	t.Parallel()
	assert.True(t, installed("sh -c true"))
	assert.False(t, installed("no-such-pager -R"))
	assert.True(t, installed("LESS=R less"), "only a shell can tell")
}
