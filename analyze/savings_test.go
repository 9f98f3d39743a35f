package analyze

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/analyze/dataset"
)

// No finding is larger than what it could take away: the content that is its own, and
// never more than all that was sent.
func TestSavingsAreBounded(t *testing.T) {
	shell := func(b *builder, tokens, n, last int64) {
		args := b.carry("a", "tool_call", "bash", 10, n+1, last)
		result := b.carry("a", "tool_result", "bash", tokens, n+1, last)
		b.call("a", n, dataset.Call{Tool: "bash", Class: "shell", Mutates: true, ArgsItem: &args, ResultItem: &result})
	}
	for _, c := range []struct {
		name      string
		build     func(b *builder)
		technique string
		once      int64
		carried   int64
		share     float64
	}{
		// 1,000 and 2,000 were sent; the result of 600 is in the second, its call of 10 is not of it.
		{"what the commands printed", func(b *builder) {
			b.request("a", usage(1000, 0, 10, 0, 0))
			b.request("a", usage(2000, 0, 10, 610, 0))
			shell(b, 600, 1, 2)
		}, "output-compression", 600, 600, 600.0 / 3000},
		// The log says 50,000, the provider was sent 1,000 and 10,000: no more than that could go.
		{"content that was not sent as logged", func(b *builder) {
			b.request("a", usage(1000, 0, 10, 0, 0))
			b.request("a", usage(10_000, 0, 10, 50_010, 0))
			shell(b, 50_000, 1, 2)
		}, "output-compression", 11_000, 11_000, 1},
		// What another session sent is no room for it: 11,000 of 11,000 + 100,000.
		{"content that was not sent, beside a session that is sound", func(b *builder) {
			b.request("a", usage(1000, 0, 10, 0, 0))
			b.request("a", usage(10_000, 0, 10, 50_010, 0))
			shell(b, 50_000, 1, 2)
			b.session(dataset.Session{SessionID: "b"})
			b.request("b", usage(100_000, 0, 10, 0, 0))
		}, "output-compression", 11_000, 11_000, 11_000.0 / 111_000},
		// A read of the same lines three times is two too many, each a repeat and an
		// overlapping re-read: calls of 10 and results of 200, carried by 2 + 1 requests.
		{"a repeat that is a re-read, too", func(b *builder) {
			for i, counted := range []int64{0, 210, 420, 630} {
				b.request("a", usage(int64(1000+i), 0, 10, counted, 0))
			}
			for n := int64(1); n <= 3; n++ {
				b.read("a", n, n+1, 4)
			}
			b.calls[1].RepeatOf, b.calls[1].StrictRepeatOf = ptr(int64(0)), ptr(int64(0))
			b.calls[2].RepeatOf, b.calls[2].StrictRepeatOf = ptr(int64(0)), ptr(int64(1))
		}, "repeats-and-re-reads", 210 * 2, 210*2 + 210*1, 630.0 / 4006},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &builder{}
			b.session(dataset.Session{SessionID: "a"})
			c.build(b)
			a := audit(t, b.tables)
			require.Len(t, a.Savings, 7)
			for _, s := range a.Savings {
				assert.LessOrEqual(t, *s.Share, 1.0, s.Technique)
				if s.Technique == c.technique {
					assert.Equal(t, c.once, *s.AddressableTokens)
					assert.Equal(t, c.carried, *s.AddressableCarriedTokens)
					assert.InDelta(t, c.share, *s.Share, 1e-9)
				}
			}
		})
	}
}
