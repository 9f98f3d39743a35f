package progress_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fclog/fclog/internal/progress"
)

func TestQuickOrHiddenStepsShowNothing(t *testing.T) {
	var out strings.Builder
	for _, show := range []bool{false, true} {
		b := progress.New(&out, "reading", show)
		b.Set(1, 2)
		b.Set(2, 2)
		b.Done()
	}
	assert.Empty(t, out.String())
}

func TestSlowStepIsShownAndRemoved(t *testing.T) {
	var out strings.Builder
	b := progress.New(&out, "reading", true)
	time.Sleep(350 * time.Millisecond)
	b.Set(1, 3)
	assert.Contains(t, out.String(), "reading")
	b.Done()
	last := out.String()[strings.LastIndex(out.String(), "reading")+len("reading"):]
	assert.Contains(t, last, "\r", "the line is cleared")
}
