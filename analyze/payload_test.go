package analyze

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/analyze/dataset"
)

// payloadSession: request 2 carries a prompt and a result, its system prompt
// changed; the title request sends request 1 again, with its own system prompt and
// a prompt at the end.
func payloadSession() tables {
	b := &builder{}
	b.session(dataset.Session{SessionID: "a"})
	b.session(dataset.Session{SessionID: "earlier", StartedAt: ptr(start.UnixMilli() - 1)})
	b.request("a", usage(100, 0, 1, 0, 0))
	title := usage(50, 0, 1, 0, 0)
	title.Kind, title.Chain, title.Request, title.BaseRequestIndex = "title", 1, 1, ptr(int64(0))
	b.request("a", title)
	second := usage(200, 0, 1, 0, 0)
	second.Request = 2
	b.request("a", second)
	b.request("earlier", usage(1, 0, 1, 0, 0))
	prompt := b.item("a", dataset.Item{Kind: "user_text", Role: ptr("user")}, 10)
	b.span("a", prompt, 0, 1, 2)
	system := b.item("a", dataset.Item{Kind: "system_prompt", Role: ptr("system")}, 20)
	b.span("a", system, 0, 1, 1, inSystem)
	b.span("a", system, 0, 2, 2, inSystem)
	result := b.item("a", dataset.Item{Kind: "tool_result", Role: ptr("tool"), Tool: ptr("read"), CallID: ptr("c")}, 30)
	b.span("a", result, 0, 2, 2)
	titleSystem := b.item("a", dataset.Item{Kind: "system_prompt"}, 5)
	b.span("a", titleSystem, 1, 1, 1, inSystem)
	titlePrompt := b.item("a", dataset.Item{Kind: "user_text"}, 6)
	b.span("a", titlePrompt, 1, 1, 1)
	return b.tables
}

func payloads(t *testing.T, data tables, o PayloadOptions) []PayloadRequest {
	t.Helper()
	var out []PayloadRequest
	require.NoError(t, Payload(context.Background(), data.open(t), o, func(r PayloadRequest) error {
		out = append(out, r)
		return nil
	}))
	return out
}

func itemsOf(r PayloadRequest) []int64 {
	items := []int64{}
	for _, p := range r.Parts {
		items = append(items, p.Item)
	}
	return items
}

func TestPayload(t *testing.T) {
	got := payloads(t, payloadSession(), PayloadOptions{})
	require.Len(t, got, 4)
	assert.Equal(t, "earlier", got[0].SessionID)
	assert.Equal(t, []int64{}, itemsOf(got[0]))
	// Items: 0 prompt, 1 system, 2 result, 3 title's system, 4 title's prompt.
	assert.Equal(t, []int64{1, 0}, itemsOf(got[1]))
	assert.Equal(t, []int64{1, 3, 0, 4}, itemsOf(got[2]), "region by region, the base first")
	assert.Equal(t, []int64{1, 0, 2}, itemsOf(got[3]))
	assert.Equal(t, PayloadPart{
		Item: 2, Kind: "tool_result", Role: ptr("tool"), Tool: ptr("read"), CallID: ptr("c"), Tokens: ptr(int64(30)), SHA256: "a-2", Origin: "logged",
	}, got[3].Parts[2])
	assert.Equal(t, start.Unix()+20, got[3].Time.Unix())
}

func TestPayloadOfOneRequest(t *testing.T) {
	got := payloads(t, payloadSession(), PayloadOptions{Request: 2})
	require.Len(t, got, 1)
	assert.Equal(t, []int64{1, 0, 2}, itemsOf(got[0]))
}

func TestPayloadStopsWhenEmitFails(t *testing.T) {
	full := errors.New("disk full")
	calls := 0
	err := Payload(context.Background(), payloadSession().open(t), PayloadOptions{}, func(PayloadRequest) error {
		calls++
		return full
	})
	assert.ErrorIs(t, err, full)
	assert.Equal(t, 1, calls)
}

func TestPayloadWithoutPartsIsAnEmptyList(t *testing.T) {
	out, err := json.Marshal(payloads(t, payloadSession(), PayloadOptions{Request: 1})[0])
	require.NoError(t, err)
	assert.Contains(t, string(out), `"parts":[]`)
}
