package analyze

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/analyze/dataset"
)

// fit adds the calibration rows of a session's model m1, equal for both fits.
func (b *builder) fit(session, method string, factor, framing float64) {
	for _, which := range []string{"all", "even"} {
		b.calibration = append(b.calibration, dataset.Calibration{
			Part: partOf(session), SessionID: session, Model: ptr("m1"), Fit: which, Factor: factor, FactorLow: factor, FactorHigh: factor,
			FramingPerMessage: framing, Method: method,
		})
	}
}

// Five requests. Request 2 answered with a call of 10 raw tokens for which it
// reported 60; its result has 100. Request 3 sends 300 more than request 2.
// Before request 5 a result of 2,000 tokens left the conversation.
func growthSession(method string) *builder {
	b := &builder{}
	b.session(dataset.Session{SessionID: "a"})
	b.fit("a", method, 2, 3)
	for _, u := range [][2]int64{{1000, 50}, {3000, 60}, {3300, 70}, {3400, 80}, {1400, 90}} {
		b.request("a", usage(u[0], 0, u[1], 0, 0))
	}
	args := b.item("a", dataset.Item{Kind: "tool_call", RequestIndex: ptr(int64(1))}, 10)
	b.span("a", args, 0, 3, 5)
	b.carry("a", "tool_result", "read", 100, 3, 5)
	b.carry("a", "tool_result", "read", 2000, 2, 4)
	return b
}

func TestExplained(t *testing.T) {
	for _, c := range []struct {
		name, method string
		predicted    float64
		cause        any
	}{
		// The response as reported, 60, the result 2 x 100, one message of 3.
		{"responses as reported", "least-absolute", 60 + 200 + 3, nil},
		// The call's text 2 x 10 and the result 2 x 100, two messages of 3.
		{"responses by their text", "least-absolute+text", 20 + 200 + 6, "too few requests to tell"},
		{"nothing fitted", "default+text", 20 + 200 + 6, "too few requests to fit the tokenizer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rows := ask(t, growthSession(c.method).open(t), "explained", Params{})
			require.Len(t, rows, 1)
			// Scored: request 3. Not scored: 2 and 4, even. Left out: 5.
			assert.Equal(t, int64(1), rows[0]["pairs"])
			assert.Equal(t, int64(1), rows[0]["left_out"])
			assert.InDelta(t, 1-(300-c.predicted)/300, rows[0]["explained"], 1e-12)
			assert.Equal(t, c.cause, rows[0]["cause"])
		})
	}
}

func TestExplainedNamesReminders(t *testing.T) {
	b := growthSession("least-absolute+text")
	b.sessions[0].Missing = []string{"reminders", "system prompt"}
	rows := ask(t, b.open(t), "explained", Params{})
	assert.Equal(t, "reminders that the log does not hold come and go", rows[0]["cause"])
}

// A snapshot of an output says nothing about what the next request carries.
func TestExplainedLeavesOutNonFinalOutputs(t *testing.T) {
	b := growthSession("least-absolute")
	b.requests[1].OutputFinal = false
	rows := ask(t, b.open(t), "explained", Params{})
	assert.Equal(t, int64(0), rows[0]["pairs"])
	assert.Equal(t, int64(2), rows[0]["left_out"])
	assert.Nil(t, rows[0]["explained"])
	assert.Nil(t, rows[0]["cause"])
}

// A response that reported 160 tokens, 40 of them reasoning that is not sent
// again, is carried at 120, twice what factor 2 makes of its text and call (20 and
// 10 raw): 80 and 40. An image has its price whatever the factor.
func TestBilledTokensOfReportedResponses(t *testing.T) {
	b := &builder{}
	b.session(dataset.Session{SessionID: "a"})
	b.fit("a", "least-absolute", 2, 0)
	b.calibration = append(b.calibration, dataset.Calibration{Part: partOf("a"), SessionID: "a", Model: ptr("m1"), Kind: ptr("image"), Fit: "all", Factor: 1, Method: "constant"})
	first := usage(1000, 0, 160, 0, 0)
	first.ReasoningTokens = ptr(int64(40))
	b.request("a", first)
	b.request("a", usage(2000, 0, 1, 0, 0))
	b.request("a", usage(3000, 0, 1, 0, 0))
	for _, it := range []struct {
		kind   string
		tokens int64
	}{{"assistant_text", 20}, {"tool_call", 10}} {
		item := b.item("a", dataset.Item{Kind: it.kind, RequestIndex: ptr(int64(0))}, it.tokens)
		b.span("a", item, 0, 2, 3)
	}
	b.carry("a", "image", "", 50, 2, 3)
	b.carry("a", "user_text", "", 7, 1, 3)
	want := map[string]float64{"assistant_text": 80 * 2, "tool_call": 40 * 2, "image": 50 * 2, "user_text": 7 * 2 * 3}
	got := map[string]float64{}
	for _, row := range ask(t, b.open(t), "composition", Params{}) {
		if kind := row["kind"].(string); kind != "framing" && kind != "unlogged" {
			got[kind] = row["billed_tokens"].(float64)
		}
	}
	assert.InDeltaMapValues(t, want, got, 1e-9)
}
