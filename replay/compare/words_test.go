package compare

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Three trials of 200 tokens less over 3 requests are -66.7 each: both ends are -67.
func TestOneNumberWhereEndsAreEqual(t *testing.T) {
	requests, base, candidate, less := 3.0, 1000.0, 800.0, -200.0/3
	task := TaskResult{Baseline: TaskArm{Requests: &requests, Tokens: &base}, Candidate: TaskArm{Requests: &requests, Tokens: &candidate}, PerRequest: &less}
	assert.Equal(t, "-67 tokens per request on 2 tasks with equal requests", turnMatched([]TaskResult{task, task}).PerRequest)
	assert.Equal(t, "-67 tokens per request on 1 task with equal requests", turnMatched([]TaskResult{task}).PerRequest)
	other := task
	more := 12.4
	other.PerRequest = &more
	assert.Equal(t, "-67 to +12 tokens per request on 2 tasks with equal requests", turnMatched([]TaskResult{task, other}).PerRequest)
}

func TestSignedPercent(t *testing.T) {
	for p, want := range map[float64]string{0: "0.0 %", 0.04: "0.0 %", -0.04: "0.0 %", 0.06: "+0.1 %", -66.66: "-66.7 %", 100: "+100.0 %"} {
		assert.Equal(t, want, SignedPercent(p))
	}
}
