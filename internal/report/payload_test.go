package report_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/analyze"
	"github.com/fclog/fclog/internal/report"
	"github.com/fclog/fclog/internal/term/termtest"
)

// samplePayload carries two parts; 1,000 = 900 counted + 30 calibration + 20
// framing + 50 unlogged.
func samplePayload(text string) analyze.PayloadRequest {
	at := time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC)
	return analyze.PayloadRequest{
		SessionID: text, Chain: 1, Request: 12, Kind: "turn", Time: &at, Model: &text,
		InputTokens: ptr(int64(1_000)), CountedTokens: 900, FramingTokens: ptr(int64(20)), UnloggedTokens: ptr(int64(50)),
		Parts: []analyze.PayloadPart{
			{Item: 1, Kind: "user_text", Role: ptr("user"), Chars: 400, Tokens: ptr(int64(100)), SHA256: "0123456789abcdef", Origin: "logged"},
			{Item: 2, Kind: "tool_result", Role: ptr("tool"), Tool: &text, CallID: &text, Chars: 3_200, Tokens: ptr(int64(800)), SHA256: "fedcba9876543210", Origin: "logged"},
			{Item: 3, Kind: "image", Role: &text, Chars: 9, SHA256: "00", Origin: "logged"},
		},
	}
}

func show(t *testing.T, w report.PayloadWriter, requests ...analyze.PayloadRequest) {
	t.Helper()
	for _, r := range requests {
		require.NoError(t, w.Request(r))
	}
	require.NoError(t, w.Close())
}

func TestPayloadParts(t *testing.T) {
	var out bytes.Buffer
	show(t, report.PayloadParts(&out, report.Options{Width: 100, UTF8: true}), samplePayload("s"))
	for _, want := range []string{
		"Request 12 of session s, chain 1", "user text", "s · results", "800", "3,200", "fedcba987654", "–",
		"input 1,000 = counted 900 + calibration 30 + framing 20 + unlogged 50",
	} {
		assert.Contains(t, out.String(), want)
	}
}

func TestPayloadOfUnknownUsage(t *testing.T) {
	var out bytes.Buffer
	r := samplePayload("s")
	r.InputTokens, r.FramingTokens, r.UnloggedTokens = nil, nil, nil
	show(t, report.PayloadParts(&out, report.Options{Width: 100, UTF8: true}), r)
	assert.Contains(t, out.String(), "input unknown: the log holds no usage; counted 900")
}

func TestPayloadTellsWhatIsConstant(t *testing.T) {
	r := samplePayload("s")
	r.ConstantTokens, r.ConstantLow, r.ConstantHigh, r.ConstantMethod = ptr(int64(40)), ptr(int64(36)), ptr(int64(44)), ptr("first-request")
	var out bytes.Buffer
	show(t, report.PayloadParts(&out, report.Options{Width: 160, UTF8: true}), r)
	assert.Contains(t, out.String(), "+ unlogged 50, of which about 40 constant (36 to 44, from the first request)")
	r.InputTokens, r.FramingTokens, r.UnloggedTokens = nil, nil, nil
	out.Reset()
	show(t, report.PayloadParts(&out, report.Options{Width: 160, UTF8: true}), r)
	assert.Contains(t, out.String(), "counted 900; not logged: about 40 constant (36 to 44, from the first request)")
	out.Reset()
	show(t, report.PayloadList(&out, report.Options{Width: 160, UTF8: true}), r)
	assert.Contains(t, out.String(), "~40")
}

func TestPayloadListHasOneTablePerSession(t *testing.T) {
	var out bytes.Buffer
	show(t, report.PayloadList(&out, report.Options{Width: 100, UTF8: true}), samplePayload("one"), samplePayload("one"), samplePayload("two"))
	assert.Equal(t, 1, bytes.Count(out.Bytes(), []byte("Session one")))
	assert.Equal(t, 1, bytes.Count(out.Bytes(), []byte("Session two")))
	assert.Equal(t, 3, bytes.Count(out.Bytes(), []byte("09:26:53")))
}

func TestPayloadOfHostileText(t *testing.T) {
	for _, s := range termtest.Hostile() {
		for _, width := range []int{80, 160} {
			var out bytes.Buffer
			o := report.Options{Width: width, UTF8: true, Color: true}
			show(t, report.PayloadParts(&out, o), samplePayload(s))
			show(t, report.PayloadList(&out, o), samplePayload(s))
			termtest.CheckTerminal(t, out.String(), width, true)
		}
		var out bytes.Buffer
		show(t, report.PayloadJSON(&out), samplePayload(s), samplePayload(s))
		lines := bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n"))
		require.Len(t, lines, 2, "one line a request")
		var back analyze.PayloadRequest
		require.NoError(t, json.Unmarshal(lines[0], &back))
		assert.Equal(t, string([]rune(s)), *back.Model)
	}
}
