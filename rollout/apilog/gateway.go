package apilog

import (
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// marshal writes members as an object.
func marshal(m members) (jsontext.Value, error) {
	return json.Marshal(map[string]jsontext.Value(m), json.Deterministic(true), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
}

// body puts a body together from members that stand apart.
func body(parts members) jsontext.Value {
	for name, v := range parts {
		if len(v) == 0 {
			delete(parts, name)
		}
	}
	raw, err := marshal(parts)
	if err != nil {
		return nil
	}
	return raw
}

// openLiteLLM reads a record of LiteLLM's standard logging payload. Its bodies
// are in the form of Chat Completions, its prompt tokens include the cached ones
// for every provider.
func openLiteLLM(m members) *exchange {
	settings := decode[members](m["model_parameters"])
	messages := object(m["messages"])
	x := &exchange{
		start: instant(m["startTime"]), end: instant(m["endTime"]), first: instant(m["completionStartTime"]),
		provider: str(m["custom_llm_provider"]), model: str(m["model"]), usd: dollars(m, "response_cost"),
		trace: str(m["trace_id"]), response: object(m["response"]), record: str(m["id"]),
	}
	x.session = sessionMember(m["metadata"])
	x.billed = modelCallType.MatchString(str(m["call_type"]))
	x.failed = str(m["status"]) == "failure" || str(m["error_str"]) != ""
	x.answered = str(m["status"]) == "success"
	x.request = messagesOrInput(str(m["call_type"]), messages, settings, m["model"])
	x.redacted = redacted(messages)
	if _, ok := m["prompt_tokens"]; ok {
		x.usage = liteLLMUsage(m)
	}
	return x
}

// messagesOrInput builds the body that a gateway logged in pieces.
func messagesOrInput(callType string, messages jsontext.Value, settings members, model jsontext.Value) jsontext.Value {
	name := "messages"
	if strings.Contains(callType, "responses") {
		name = "input"
	} else if messages.Kind() == '"' {
		messages = jsontext.Value(`[{"role":"user","content":` + string(messages) + `}]`)
	}
	return body(members{
		name: messages, "model": model, "tools": settings["tools"], "functions": settings["functions"], "system": settings["system"],
		"instructions": settings["instructions"], "prompt_cache_key": settings["prompt_cache_key"], "max_tokens": settings["max_tokens"],
		"metadata": settings["metadata"], "previous_response_id": settings["previous_response_id"],
	})
}

// liteLLMUsage is the usage of the envelope; what only the response tells of it
// (cache, reasoning) is taken from there later.
func liteLLMUsage(m members) *rollout.Usage {
	c := counts{
		Prompt:     decode[logfile.Lenient[int64]](m["prompt_tokens"]),
		Completion: decode[logfile.Lenient[int64]](m["completion_tokens"]),
	}
	u, ok := c.usage()
	if !ok || c.Prompt.V == 0 && c.Completion.V == 0 {
		return nil
	}
	return &u
}

// modelCallType tells the calls of LiteLLM that ask a model to write.
var modelCallType = regexp.MustCompile(`completion|responses|messages|generate_content`)

// redactedTexts stand where a gateway does not keep or cuts what was sent.
var redactedTexts = []string{"redacted-by-litellm", "litellm_truncated"}

func redacted(raw jsontext.Value) bool {
	for _, mark := range redactedTexts {
		if strings.Contains(string(raw), mark) {
			return true
		}
	}
	return false
}

// openSpendRow reads a row of LiteLLM's spend log.
func openSpendRow(m members) *exchange {
	request := object(m["proxy_server_request"])
	if inner := decode[members](request); inner["body"].Kind() == '{' {
		request = inner["body"]
	}
	if apiOfBody(request) == noAPI {
		request = messagesOrInput(str(m["call_type"]), object(m["messages"]), members{}, m["model"])
	}
	x := &exchange{
		request: request, response: object(m["response"]), start: instant(m["startTime"]), end: instant(m["endTime"]),
		first: instant(m["completionStartTime"]), session: str(m["session_id"]), model: str(m["model"]),
		provider: str(m["custom_llm_provider"]), usd: dollars(m, "spend"), record: str(m["request_id"]),
	}
	x.redacted = redacted(request)
	x.billed = modelCallType.MatchString(str(m["call_type"]))
	x.failed = str(m["status"]) == "failure"
	x.usage = liteLLMUsage(m)
	return x
}

// openLangfuse reads a generation of a Langfuse export. Its input is a list of
// messages, or an object with them and the tools; both may stand in a string.
func openLangfuse(m members) *exchange {
	input, output := object(m["input"]), object(m["output"])
	x := &exchange{
		start: instant(m.get("start_time", "startTime")), end: instant(m.get("end_time", "endTime")),
		first: instant(m.get("completion_start_time", "completionStartTime")),
		model: m.str("provided_model_name", "model", "providedModelName"), session: m.str("session_id", "sessionId"),
		trace: m.str("trace_id", "traceId"), span: str(m["id"]), record: str(m["id"]), parent: m.str("parent_observation_id", "parentObservationId"),
		usd:    dollars(m, "total_cost", "totalCost", "calculatedTotalCost"),
		failed: strings.EqualFold(str(m["level"]), "ERROR"), answered: output.Kind() != 'n' && len(output) > 0,
	}
	x.request, x.billed = langfuseInput(input), true
	x.response = langfuseOutput(output)
	if u, ok := langfuseUsage(object(m.get("usage_details", "usageDetails"))); ok {
		x.usage = &u
	}
	return x
}

func langfuseInput(input jsontext.Value) jsontext.Value {
	switch input.Kind() {
	case '[':
		if contentsAreGemini(input) {
			return body(members{"contents": input})
		}
		return body(members{"messages": input})
	case '"':
		return body(members{"messages": jsontext.Value(`[{"role":"user","content":` + string(input) + `}]`)})
	}
	return input
}

// langfuseOutput brings a bare assistant message, or a text, into the form of an
// answer.
func langfuseOutput(output jsontext.Value) jsontext.Value {
	switch output.Kind() {
	case '"':
		return jsontext.Value(`{"content":` + string(output) + `}`)
	case '[':
		list := decode[[]jsontext.Value](output)
		if len(list) == 0 {
			return nil
		}
		if decode[message](list[0]).Role.OK {
			return body(members{"choices": jsontext.Value(`[{"message":` + string(list[len(list)-1]) + `}]`)})
		}
		return jsontext.Value(`{"content":` + string(output) + `}`)
	}
	if m := decode[message](output); m.Role.OK && len(decode[answer](output).Choices.V) == 0 {
		if content := decode[members](output); !content.has("usage") {
			return body(members{"choices": jsontext.Value(`[{"message":` + string(output) + `}]`)})
		}
	}
	return output
}

// Names that integrations give the cached parts of the input.
var (
	readNames      = []string{"input_cached_tokens", "cache_read_input_tokens", "input_cache_read", "cached_tokens", "input_cached", "cache_read"}
	writeNames     = []string{"cache_creation_input_tokens", "input_cache_creation", "cache_write", "input_cache_write"}
	reasoningNames = []string{"output_reasoning_tokens", "output_reasoning", "reasoning_tokens", "reasoning"}
)

// langfuseUsage reads usage whose keys are the integrator's. Whether the input
// includes its cached parts is told by the total.
func langfuseUsage(raw jsontext.Value) (rollout.Usage, bool) {
	m := decode[members](raw)
	get := func(names ...string) *int64 {
		for _, name := range names {
			if v := decode[logfile.Lenient[int64]](m[name]); v.OK {
				return &v.V
			}
		}
		return nil
	}
	u := rollout.Usage{
		Input: get("input", "prompt_tokens", "input_tokens"), Output: get("output", "completion_tokens", "output_tokens"),
		CacheRead: get(readNames...), CacheWrite: get(writeNames...), Reasoning: get(reasoningNames...),
	}
	if u.Input == nil && u.Output == nil {
		return u, false
	}
	total, apart := get("total", "total_tokens"), sum(sum(u.Input, u.CacheRead, u.CacheWrite))
	if apart == nil {
		return u, true
	}
	inclusive := sum(u.Input, u.Output)
	outside := total != nil && *total != *inclusive && *total == *sum(apart, u.Output)
	tooLarge := *apart-*u.Input > *u.Input
	if outside || tooLarge {
		u.Input = apart
	}
	return u, true
}
