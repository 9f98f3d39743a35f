package analyze

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/analyze/dataset"
)

// Two requests: the first sends 10,000 tokens of which 2,000 are unlogged and
// 8,000 a prompt; the second sends 10,500 and reads cacheRead from the cache. Each
// case changes one thing in between.
func TestCacheBreakCauses(t *testing.T) {
	for _, c := range []struct {
		name      string
		cacheRead int64
		change    func(b *builder)
		want      string // "" no break
	}{
		{"all but one block read", 10_000 - 256, nil, ""},
		{"one token more lost in a new run", 10_000 - 257, func(b *builder) { b.requests[1].Run = 2 }, "run-border"},
		{"ten blocks lost for no reason in sight", 10_000 - 1280, nil, ""},
		{"one token more lost for no reason in sight", 10_000 - 1281, nil, "unknown"},
		{"half lost for no reason in sight", 5_000, nil, "unknown"},
		{"into the unlogged part, nothing known to change there", 1_900, nil, "unknown"},
		{"into the unlogged part, where reminders stand", 1_900, func(b *builder) { b.sessions[0].Missing = []string{"reminders"} }, "block-before-conversation"},
		{"behind the unlogged part, where reminders stand", 5_000, func(b *builder) { b.sessions[0].Missing = []string{"reminders"} }, "unknown"},
		{"nothing read at all, where reminders stand", 0, func(b *builder) { b.sessions[0].Missing = []string{"reminders"} }, "unknown"},
		{"logged block in front replaced", 1_900, func(b *builder) {
			block := b.item("a", dataset.Item{Kind: "reminder"}, 10)
			b.span("a", block, 0, 1, 1, inSystem)
			b.span("a", block, 0, 2, 2, inSystem)
		}, "block-before-conversation"},
		{"new run", 5_000, func(b *builder) { b.requests[1].Run = 2 }, "run-border"},
		{"six minutes later", 5_000, func(b *builder) { b.requests[1].Time = ptr(*b.requests[0].Time + 360_000) }, "lifetime"},
		{"six minutes later in a new run", 5_000, func(b *builder) { b.requests[1].Time, b.requests[1].Run = ptr(*b.requests[0].Time+360_000), 2 }, "lifetime"},
		{"six minutes later with the 1 h cache", 5_000, func(b *builder) {
			b.requests[1].Time = ptr(*b.requests[0].Time + 360_000)
			b.requests[0].CacheWrite1hTokens = ptr(int64(1))
		}, "unknown"},
		{"another model", 5_000, func(b *builder) { b.requests[1].Model = ptr("m2") }, "model-changed"},
		{"an item of the conversation changed", 5_000, func(b *builder) {
			result := b.item("a", dataset.Item{Kind: "tool_result", Tool: ptr("bash")}, 10)
			b.span("a", result, 0, 1, 1)
			b.span("a", result, 0, 2, 2)
		}, "content-changed"},
		{"a summary began", 5_000, func(b *builder) { b.carry("a", "summary", "", 10, 2, 2) }, "compaction"},
		{"most of the conversation gone", 5_000, func(b *builder) { b.spans[0].LastRequest = 1 }, "compaction"},
		{"a compaction request in between", 5_000, func(b *builder) {
			after := b.requests[1]
			b.requests[1] = dataset.Request{}
			b.requests = b.requests[:1]
			compaction := usage(9_000, 0, 1, 0, 0)
			compaction.Kind, compaction.Chain, compaction.Request = "compaction", 1, 1
			b.request("a", compaction)
			after.RequestIndex = 2
			b.requests = append(b.requests, after)
		}, "compaction"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &builder{}
			b.session(dataset.Session{SessionID: "a"})
			b.request("a", usage(10_000, 128, 100, 8_000, 0))
			b.request("a", usage(10_500, c.cacheRead, 100, 8_500, 0))
			b.carry("a", "user_text", "", 8_000, 1, 2)
			if c.change != nil {
				c.change(b)
			}
			rows := ask(t, b.open(t), "cache-breaks", Params{})
			if c.want == "" {
				assert.Empty(t, rows)
				return
			}
			require.Len(t, rows, 1)
			assert.Equal(t, c.want, rows[0]["cause"])
			assert.Equal(t, 10_000-c.cacheRead, rows[0]["lost_tokens"])
		})
	}
}

// A failed attempt in between and a request without a known cache read do not
// stand in the way of the comparison, nor do they break anything themselves.
func TestCacheBreaksSkipWhatIsUnknown(t *testing.T) {
	b := &builder{}
	b.session(dataset.Session{SessionID: "a"})
	b.request("a", usage(10_000, 0, 100, 0, 0))
	b.request("a", dataset.Request{Status: "error"})
	b.request("a", usage(10_500, 9_984, 100, 0, 0))
	unknown := usage(11_000, 0, 100, 0, 0)
	unknown.CacheReadTokens = nil
	b.request("a", unknown)
	assert.Empty(t, ask(t, b.open(t), "cache-breaks", Params{}))
}

// A log that writes zeros where the provider does not report the cache.
func TestNoCacheIsNoBreak(t *testing.T) {
	b := &builder{}
	b.session(dataset.Session{SessionID: "a"})
	b.request("a", usage(10_000, 0, 100, 0, 0))
	b.request("a", usage(10_500, 0, 100, 0, 0))
	assert.Empty(t, ask(t, b.open(t), "cache-breaks", Params{}))
}

// What is lost by a compaction is mostly not sent again.
func TestOnlyWhatIsSentAgainIsASaving(t *testing.T) {
	b := &builder{}
	b.session(dataset.Session{SessionID: "a"})
	b.request("a", usage(10_000, 0, 100, 9_000, 0))
	b.request("a", usage(3_000, 500, 100, 2_000, 0))
	b.carry("a", "user_text", "", 9_000, 1, 1)
	b.carry("a", "summary", "", 2_000, 2, 2)
	a := audit(t, b.tables)
	assert.Equal(t, int64(10_000-500), a.CacheBreaks[0].LostTokens)
	saving := a.Savings[6]
	require.Equal(t, "cache-breaks", saving.Technique)
	assert.Equal(t, int64(3_000-500), *saving.AddressableCarriedTokens)
}
