package apilog

import (
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// otlpValue is a value of OTLP-JSON.
type otlpValue struct {
	String jsontext.Value `json:"stringValue"`
	Bool   jsontext.Value `json:"boolValue"`
	Int    jsontext.Value `json:"intValue"`
	Double jsontext.Value `json:"doubleValue"`
	Bytes  jsontext.Value `json:"bytesValue"`
	Array  *struct {
		Values []otlpValue `json:"values"`
	} `json:"arrayValue"`
	List *struct {
		Values []otlpAttribute `json:"values"`
	} `json:"kvlistValue"`
}

type otlpAttribute struct {
	Key   string    `json:"key"`
	Value otlpValue `json:"value"`
}

// json is the value as plain JSON. 64-bit integers come as strings.
func (v otlpValue) json() jsontext.Value {
	switch {
	case v.Array != nil:
		parts := make([]string, len(v.Array.Values))
		for i, e := range v.Array.Values {
			parts[i] = string(e.json())
		}
		return jsontext.Value("[" + strings.Join(parts, ",") + "]")
	case v.List != nil:
		parts := make([]string, len(v.List.Values))
		for i, e := range v.List.Values {
			key, _ := jsontext.AppendQuote(nil, e.Key)
			parts[i] = string(key) + ":" + string(e.Value.json())
		}
		return jsontext.Value("{" + strings.Join(parts, ",") + "}")
	case v.Int.Kind() == '"':
		if n, err := strconv.ParseInt(str(v.Int), 10, 64); err == nil {
			return jsontext.Value(strconv.FormatInt(n, 10))
		}
		return v.Int
	}
	for _, raw := range []jsontext.Value{v.String, v.Int, v.Double, v.Bool, v.Bytes} {
		if len(raw) > 0 {
			return raw
		}
	}
	return jsontext.Value("null")
}

func plain(list []otlpAttribute) members {
	m := members{}
	for _, a := range list {
		m[a.Key] = a.Value.json()
	}
	return m
}

type otlpSpan struct {
	TraceID    string          `json:"traceId"`
	SpanID     string          `json:"spanId"`
	ParentID   string          `json:"parentSpanId"`
	Name       string          `json:"name"`
	Start      jsontext.Value  `json:"startTimeUnixNano"`
	End        jsontext.Value  `json:"endTimeUnixNano"`
	Attributes []otlpAttribute `json:"attributes"`
	Events     []otlpEvent     `json:"events"`
	Status     struct {
		Code jsontext.Value `json:"code"`
	} `json:"status"`
}

type otlpEvent struct {
	Name       string          `json:"name"`
	EventName  string          `json:"eventName"`
	TraceID    string          `json:"traceId"`
	SpanID     string          `json:"spanId"`
	Time       jsontext.Value  `json:"timeUnixNano"`
	Body       otlpValue       `json:"body"`
	Attributes []otlpAttribute `json:"attributes"`
}

type otlpScope struct {
	Spans []otlpSpan  `json:"spans"`
	Logs  []otlpEvent `json:"logRecords"`
}

type otlpResource struct {
	Scopes     []otlpScope `json:"scopeSpans"`
	OldScopes  []otlpScope `json:"instrumentationLibrarySpans"`
	LogScopes  []otlpScope `json:"scopeLogs"`
	OldLogsToo []otlpScope `json:"instrumentationLibraryLogs"`
}

// spanNode is what the tree of spans is built of.
type spanNode struct {
	parent string
	agent  string // name of the agent that an invoke_agent span starts
	invoke bool
	callID string // of an execute_tool span
}

// spans collects a trace that is spread over many records. Model calls are
// parsed at once; the tree is looked at when all spans are there.
type spans struct {
	p      *parser
	tree   map[string]spanNode
	calls  []*exchange
	bySpan map[string]*exchange
	said   map[string][]otlpEvent // events of log records by span
	at     map[string]int         // line of their first
	order  []string
	took   map[string]int64 // duration of calls by ID, in ms
}

func newSpans(p *parser) *spans {
	return &spans{p: p, tree: map[string]spanNode{}, bySpan: map[string]*exchange{}, said: map[string][]otlpEvent{}, at: map[string]int{}, took: map[string]int64{}}
}

// record takes one export request.
func (ss *spans) record(m members, line int) {
	for _, raw := range decode[[]jsontext.Value](m["resourceSpans"]) {
		res := decode[otlpResource](raw)
		for _, scope := range append(res.Scopes, res.OldScopes...) {
			for i := range scope.Spans {
				ss.span(&scope.Spans[i], line)
			}
		}
	}
	for _, raw := range decode[[]jsontext.Value](m["resourceLogs"]) {
		res := decode[otlpResource](raw)
		for _, scope := range append(res.LogScopes, res.OldLogsToo...) {
			for _, e := range scope.Logs {
				ss.log(e, line)
			}
		}
	}
}

// log keeps an event that belongs to a span until the span is known.
func (ss *spans) log(e otlpEvent, line int) {
	if e.EventName == "" {
		e.EventName = plain(e.Attributes).str("event.name")
	}
	if !strings.HasPrefix(e.EventName, "gen_ai.") || e.SpanID == "" {
		return
	}
	if _, ok := ss.said[e.SpanID]; !ok {
		ss.order = append(ss.order, e.SpanID)
		ss.at[e.SpanID] = line
	}
	e.Name = e.EventName
	ss.said[e.SpanID] = append(ss.said[e.SpanID], e)
}

func (ss *spans) span(sp *otlpSpan, line int) {
	a := plain(sp.Attributes)
	start, end := nanos(sp.Start), nanos(sp.End)
	op := a.str("gen_ai.operation.name")
	n := spanNode{parent: sp.ParentID, invoke: op == "invoke_agent" || strings.EqualFold(a.str("openinference.span.kind"), "AGENT")}
	n.agent = a.str("gen_ai.agent.name", "agent.name")
	n.callID = a.str("gen_ai.tool.call.id", "gen_ai.tool.call_id", "tool_call.id")
	ss.tree[sp.SpanID] = n
	if n.callID != "" && !start.IsZero() && end.After(start) {
		ss.took[n.callID] = end.Sub(start).Milliseconds()
	}
	if !modelCall(op, a) || ss.bySpan[sp.SpanID] != nil {
		return
	}
	x := &exchange{
		line: line, api: spanAPI, start: start, end: end, trace: sp.TraceID, span: sp.SpanID, record: sp.TraceID + "/" + sp.SpanID, parent: sp.ParentID,
		session: a.str("gen_ai.conversation.id", "session.id"), agent: n.agent,
		provider: a.str("gen_ai.provider.name", "gen_ai.system", "llm.provider", "llm.system"),
		model:    a.str("gen_ai.response.model", "gen_ai.request.model", "llm.model_name"), id: a.str("gen_ai.response.id"),
		failed: decode[logfile.Lenient[int64]](sp.Status.Code).V == 2 || str(sp.Status.Code) == "STATUS_CODE_ERROR" || a.has("error.type"),
		usage:  spanUsage(a),
	}
	x.answered = !x.failed
	x.final = true
	for _, e := range sp.Events {
		mergeEvent(a, e)
	}
	for _, e := range ss.said[sp.SpanID] {
		mergeEvent(a, e)
	}
	delete(ss.said, sp.SpanID)
	ss.finish(x, a)
	ss.calls = append(ss.calls, x)
	ss.bySpan[sp.SpanID] = x
}

// finish reads the bodies out of the attributes.
func (ss *spans) finish(x *exchange, a members) {
	x.request, x.partial = spanBody(a)
	x.response, _ = spanOutput(a)
	x.parse(ss.p)
}

// modelCall tells the spans that are requests to a model.
func modelCall(op string, a members) bool {
	switch op {
	case "chat", "generate_content", "text_completion":
		return true
	case "":
		kind := a.str("openinference.span.kind", "traceloop.span.kind")
		return strings.EqualFold(kind, "LLM") || kind == "" && (a.has("llm.request.type") || a.has("gen_ai.request.model"))
	}
	return false
}

func nanos(raw jsontext.Value) time.Time {
	s := str(raw)
	if raw.Kind() == '0' {
		s = string(raw)
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n <= 0 || n > 7e18 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// spanUsage reads the usage of a span. By the convention the input includes its
// cached parts; producers that copy Anthropic's numbers leave them outside, which
// shows where they exceed it.
func spanUsage(a members) *rollout.Usage {
	get := func(names ...string) *int64 {
		for _, name := range names {
			if v := decode[logfile.Lenient[int64]](a[name]); v.OK {
				return &v.V
			}
		}
		return nil
	}
	u := rollout.Usage{
		Input:      get("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.usage.prompt_tokens", "llm.token_count.prompt"),
		Output:     get("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.usage.completion_tokens", "llm.token_count.completion"),
		CacheRead:  get("gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens", "llm.token_count.prompt_details.cache_read"),
		CacheWrite: get("gen_ai.usage.cache_creation.input_tokens", "gen_ai.usage.cache_creation_input_tokens", "llm.token_count.prompt_details.cache_write"),
		Reasoning:  get("gen_ai.usage.reasoning.output_tokens", "gen_ai.usage.reasoning_tokens", "llm.token_count.completion_details.reasoning"),
	}
	if u.Input == nil && u.Output == nil {
		return nil
	}
	if cached := sum(new(int64), u.CacheRead, u.CacheWrite); u.Input != nil && *cached > *u.Input {
		u.Input = sum(u.Input, u.CacheRead, u.CacheWrite)
	}
	return &u
}
