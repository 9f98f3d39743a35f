package apilog

import (
	"slices"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/rollout"
)

func sorted(list []int64) []int64 {
	slices.Sort(list)
	return list
}

// numbers shows usage as input, read, write, output, reasoning; -1 for nil.
func numbers(u rollout.Usage) []int64 {
	var out []int64
	for _, v := range []*int64{u.Input, u.CacheRead, u.CacheWrite, u.Output, u.Reasoning} {
		if v == nil {
			out = append(out, -1)
			continue
		}
		out = append(out, *v)
	}
	return out
}

func TestUsage(t *testing.T) {
	for in, want := range map[string][]int64{
		// Anthropic leaves both cache numbers out of the input: 10+20+30.
		`{"input_tokens":10,"cache_read_input_tokens":20,"cache_creation_input_tokens":30,"output_tokens":5}`: {60, 20, 30, 5, -1},
		`{"input_tokens":10,"output_tokens":5}`: {10, -1, -1, 5, -1},
		// Chat and Responses include them, and the reasoning.
		`{"prompt_tokens":60,"completion_tokens":9,"prompt_tokens_details":{"cached_tokens":20},"completion_tokens_details":{"reasoning_tokens":4}}`: {60, 20, -1, 9, 4},
		`{"input_tokens":60,"output_tokens":9,"input_tokens_details":{"cached_tokens":20},"output_tokens_details":{"reasoning_tokens":4}}`:           {60, 20, -1, 9, 4},
		// LiteLLM's prompt tokens include the cache of every provider.
		`{"prompt_tokens":60,"completion_tokens":9,"cache_read_input_tokens":20,"cache_creation_input_tokens":30}`: {60, 20, 30, 9, -1},
		// Gemini: thoughts beside the candidates 7+3, the prompt of tools beside the prompt 50+6.
		`{"promptTokenCount":50,"cachedContentTokenCount":8,"candidatesTokenCount":7,"thoughtsTokenCount":3,"toolUsePromptTokenCount":6}`: {56, 8, -1, 10, 3},
	} {
		u, ok := readUsage(jsontext.Value(in))
		require.True(t, ok, in)
		assert.Equal(t, want, numbers(u), in)
	}
	for _, in := range []string{`{}`, `null`, `"x"`, `{"input_tokens":null}`, `{"input_tokens":"many"}`} {
		_, ok := readUsage(jsontext.Value(in))
		assert.False(t, ok, in)
	}
}

func TestAbsurdUsage(t *testing.T) {
	for in, want := range map[string][]int64{
		`{"input_tokens":-5,"output_tokens":1}`:                                                             {-1, -1, -1, 1, -1},
		`{"input_tokens":1e300,"output_tokens":1}`:                                                          {-1, -1, -1, 1, -1},
		`{"input_tokens":9223372036854775807,"cache_read_input_tokens":9223372036854775807}`:                {-1, -1, -1, -1, -1},
		`{"prompt_tokens":10,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":20}}`:           {10, 10, -1, 1, -1},
		`{"prompt_tokens":10,"completion_tokens":1,"completion_tokens_details":{"reasoning_tokens":2}}`:     {10, -1, -1, 1, 1},
		`{"prompt_tokens":10,"completion_tokens":2000000000000}`:                                            {10, -1, -1, -1, -1},
		`{"input_tokens":1,"cache_read_input_tokens":-1,"cache_creation_input_tokens":2,"output_tokens":3}`: {-1, -1, 2, 3, -1},
	} {
		u, _ := readUsage(jsontext.Value(in))
		got, clean := sound(u)
		assert.False(t, clean, in)
		assert.Equal(t, want, numbers(got), in)
	}
}

// TestLangfuseUsage: the total tells whether the input includes its cached part.
func TestLangfuseUsage(t *testing.T) {
	for in, want := range map[string][]int64{
		`{"input":60,"input_cached_tokens":40,"output":4,"total":64}`:                        {60, 40, -1, 4, -1},
		`{"input":20,"input_cached_tokens":40,"output":4,"total":64}`:                        {60, 40, -1, 4, -1},
		`{"input":20,"cache_read_input_tokens":40,"output":4}`:                               {60, 40, -1, 4, -1},
		`{"input":60,"input_cache_read":40,"output":4}`:                                      {60, 40, -1, 4, -1},
		`{"input":60,"output":4,"output_reasoning_tokens":3,"total":64}`:                     {60, -1, -1, 4, 3},
		`{"prompt_tokens":60,"completion_tokens":4,"cached_tokens":10}`:                      {60, 10, -1, 4, -1},
		`{"input":10,"input_cache_read":5,"input_cache_creation":90,"output":1,"total":106}`: {105, 5, 90, 1, -1},
	} {
		u, ok := langfuseUsage(jsontext.Value(in))
		require.True(t, ok, in)
		assert.Equal(t, want, numbers(u), in)
	}
	_, ok := langfuseUsage(jsontext.Value(`{"total":5}`))
	assert.False(t, ok)
}

// TestCutStream: a stream that ends early has the input and no final output.
func TestCutStream(t *testing.T) {
	start := `data: {\"type\":\"message_start\",\"message\":{\"id\":\"m1\",\"usage\":{\"input_tokens\":7,\"output_tokens\":1}}}\n\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Half\"}}\n\ndata: {\"type\":\"mess`
	s := read(t, file(t, `{"request":{"url":"https://x/v1/messages","timestamp":1777885200,"body":{"model":"m","messages":[{"role":"user","content":"x"}]}},"response":{"status_code":200,"body_raw":"`+start+`"}}`))[0]
	r := s.Requests[0]
	assert.Equal(t, []int64{7, -1, -1, 1, -1}, numbers(r.Usage))
	assert.False(t, r.OutputFinal)
	assert.Equal(t, rollout.Answered, r.Status)
	assert.Equal(t, "Half", s.Texts[s.Items[1].Text].S)
}

func TestTimes(t *testing.T) {
	for _, in := range []string{"1777885200.5", "1777885200500", "1777885200500000", "1777885200500000000", `"2026-05-04T09:00:00.5Z"`, `"2026-05-04 09:00:00.500000"`, `"2026-05-04T09:00:00.500"`, `"2026-05-04T11:00:00.5+02:00"`} {
		assert.Equal(t, "2026-05-04T09:00:00.5Z", instant(jsontext.Value(in)).Format("2006-01-02T15:04:05.999Z07:00"), in)
	}
	for _, in := range []string{"0", "-5", "1e300", `"soon"`, "null", `{}`} {
		assert.True(t, instant(jsontext.Value(in)).IsZero(), in)
	}
}

func TestSessionHints(t *testing.T) {
	for in, want := range map[string]string{
		`{"user_id":"user_1_account_2_session_abc"}`:                 "abc",
		`{"user_id":"{\"device_id\":\"d\",\"session_id\":\"abc\"}"}`: "abc",
		`{"user_id":"somebody"}`:                                     "",
		`null`:                                                       "",
	} {
		assert.Equal(t, want, sessionOfUser(jsontext.Value(in)), in)
	}
	for in, want := range map[string]string{
		`{"Session-Id":"a"}`: "a", `{"conversation_id":"a"}`: "a", `{"x-claude-code-session-id":"a"}`: "a",
		`{"x-parent-session-id":"a"}`: "", `{"cookie":"session=a"}`: "", `[{"name":"Thread-ID","value":"a"}]`: "a",
	} {
		assert.Equal(t, want, sessionOfHeaders(jsontext.Value(in)), in)
	}
}
