package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseWhen(t *testing.T) {
	t.Parallel()
	vienna, err := time.LoadLocation("Europe/Vienna")
	require.NoError(t, err)
	now := time.Date(2026, 3, 30, 12, 0, 0, 0, time.UTC)
	for in, want := range map[string]time.Time{
		"":                     {},
		"2026-03-14":           time.Date(2026, 3, 13, 23, 0, 0, 0, time.UTC), // UTC+1
		"2026-03-14 09:26":     time.Date(2026, 3, 14, 8, 26, 0, 0, time.UTC),
		"2026-03-14T09:26:53":  time.Date(2026, 3, 14, 8, 26, 53, 0, time.UTC),
		"2026-03-14T09:26:53Z": time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC),
		"7d":                   time.Date(2026, 3, 23, 12, 0, 0, 0, time.UTC),
		"90m":                  time.Date(2026, 3, 30, 10, 30, 0, 0, time.UTC),
	} {
		got, err := parseWhen(in, now, vienna)
		require.NoError(t, err, in)
		assert.True(t, want.Equal(got), "%s: want %s, got %s", in, want, got)
	}
	for _, in := range []string{"yesterday", "-3d", "-1h", "2026-13-01", "d", "14.03.2026"} {
		_, err := parseWhen(in, now, vienna)
		assert.Error(t, err, in)
	}
}

func TestCSVText(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "", "plain": "plain", "=1": "'=1", "+1": "'+1", "-1": "'-1", "@a": "'@a", "\t=1": "'\t=1", "a=1": "a=1",
	} {
		assert.Equal(t, want, csvText(in, false), "%q", in)
	}
	assert.Equal(t, `'-\x1b[31m`, csvText("-\x1b[31m", true), "on a screen")
}
