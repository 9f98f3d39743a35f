package apilog

import (
	"encoding/base64"
	"math"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout/logfile"
)

// envelope says who logged a record.
type envelope string

const (
	foreign     envelope = ""
	pair        envelope = "pair" // claude-trace and its forks, other logs of pairs
	liteLLM     envelope = "litellm"
	spendRow    envelope = "litellm-spend"
	langfuse    envelope = "langfuse"
	helicone    envelope = "helicone"
	har         envelope = "har"
	otlp        envelope = "otlp"
	bareBody    envelope = "body"
	observation envelope = "langfuse-other" // a row that is no call of a model
)

// members are the members of a record by name.
type members map[string]jsontext.Value

func (m members) has(names ...string) bool {
	for _, name := range names {
		if v, ok := m[name]; !ok || v.Kind() == 'n' {
			return false
		}
	}
	return true
}

func (m members) str(names ...string) string {
	for _, name := range names {
		if s := str(m[name]); s != "" {
			return s
		}
	}
	return ""
}

// get is the first member that is there and not null.
func (m members) get(names ...string) jsontext.Value {
	for _, name := range names {
		if m.has(name) {
			return m[name]
		}
	}
	return nil
}

func (m members) number(name string) (float64, bool) {
	v := decode[logfile.Lenient[float64]](m[name])
	return v.V, v.OK
}

// recognise tells the envelope by the members of a record.
func recognise(m members) envelope {
	switch {
	case m["resourceSpans"].Kind() == '[' || m["resourceLogs"].Kind() == '[':
		return otlp
	case m.has("call_type", "model_parameters"):
		return liteLLM
	case m.has("request_id") && m.has("proxy_server_request") || m.has("request_id", "call_type", "messages"):
		return spendRow
	case langfuseRow(m):
		if !strings.EqualFold(str(m["type"]), "GENERATION") {
			return observation
		}
		return langfuse
	case m.has("request_body") || m.has("request_id", "request_created_at"):
		return helicone
	case m["log"].Kind() == '{' && decode[members](m["log"])["entries"].Kind() == '[':
		return har
	case m["request"].Kind() == '{' && pairRequest(m):
		return pair
	case bare(m):
		return bareBody
	}
	return foreign
}

// langfuseRow tells an observation of Langfuse by members that only it has
// together.
func langfuseRow(m members) bool {
	_, a := m["usage_details"]
	_, b := m["usageDetails"]
	_, c := m["trace_id"]
	_, d := m["traceId"]
	return str(m["type"]) != "" && (a || b) && (c || d || m.has("input"))
}

// pairRequest tells a request beside a response: the request is a body, or holds
// one.
func pairRequest(m members) bool {
	inner := decode[members](m["request"])
	if inner["body"].Kind() == '{' {
		return inner.has("url") || apiOfBody(inner["body"]) != noAPI
	}
	_, response := m["response"]
	if apiOfBody(m["request"]) == noAPI {
		return false
	}
	return response || inner.has("model") || m.has("model")
}

// bare tells a record that is a body: messages alone are no sign, transcripts of
// agents have them too.
func bare(m members) bool {
	switch {
	case m["messages"].Kind() == '[', m["input"].Kind() == '[', m["input"].Kind() == '"':
		return str(m["model"]) != "" && !m.has("info") && !m.has("type") && !m.has("trajectory_format") && !m.has("sessionId") && !m.has("session_id")
	case m["contents"].Kind() == '[':
		return contentsAreGemini(m["contents"])
	}
	return false
}

func contentsAreGemini(raw jsontext.Value) bool {
	list := decode[[]struct {
		Parts jsontext.Value `json:"parts"`
	}](raw)
	return len(list) > 0 && list[0].Parts.Kind() == '['
}

// open turns a record into the exchanges it holds.
func (r *reader) open(m members, line int) []*exchange {
	switch recognise(m) {
	case pair:
		return one(openPair(m))
	case liteLLM:
		return one(openLiteLLM(m))
	case spendRow:
		return one(openSpendRow(m))
	case langfuse:
		return one(openLangfuse(m))
	case helicone:
		return one(openHelicone(m))
	case har:
		return openHAR(m)
	case bareBody:
		return one(openBare(m))
	case otlp:
		r.spans.record(m, line)
	case observation:
	default:
		r.fold("unknown-record", line, "the record is no call of a model in a form that is known; it was counted only")
	}
	return nil
}

func one(x *exchange) []*exchange { return []*exchange{x} }

// openPair reads a request beside its response, as claude-trace and most
// recording proxies write them.
func openPair(m members) *exchange {
	q, a := decode[members](m["request"]), decode[members](m["response"])
	x := &exchange{request: m["request"], response: m["response"]}
	if q["body"].Kind() == '{' {
		x.request, x.ofFile = q["body"], true
		x.url = str(q["url"])
		x.session = first(sessionOfHeaders(q["headers"]), str(m["session_id"]))
		x.start = instant(q["timestamp"])
		x.end = instant(a["timestamp"])
		x.response, x.stream = a.get("body"), str(a["body_raw"])
		x.status = httpStatus(a.get("status_code", "status"))
		x.answered = len(a) > 0 && x.status < 400
		x.failed = x.status >= 400
		x.noted = strings.HasPrefix(str(m["note"]), "ORPHANED_REQUEST")
	} else {
		x.session = str(m["session_id"])
	}
	if x.start.IsZero() {
		x.start = instant(m.get("timestamp", "time", "start_time", "startTime", "created_at", "logged_at"))
	}
	return x
}

func openBare(m members) *exchange {
	raw, err := marshal(m)
	if err != nil {
		return &exchange{}
	}
	return &exchange{request: raw, response: m.get("response"), start: instant(m.get("timestamp", "time", "created_at"))}
}

func openHelicone(m members) *exchange {
	x := &exchange{request: object(m["request_body"]), response: object(m["response_body"]), start: instant(m["request_created_at"])}
	x.record, x.model, x.provider = str(m["request_id"]), m.str("request_model", "model"), strings.ToLower(str(m["provider"]))
	x.billed = true
	x.session = sessionMember(object(m.get("properties", "request_properties")))
	x.status = httpStatus(m.get("response_status", "status"))
	x.failed = x.status >= 400
	x.usd = dollars(m, "cost", "costUSD")
	if ms, ok := m.number("latency"); ok && !x.start.IsZero() && ms >= 0 && ms < 1e9 {
		x.end = x.start.Add(time.Duration(ms * float64(time.Millisecond)))
	}
	var c counts
	c.Prompt, c.Completion = decode[logfile.Lenient[int64]](m["prompt_tokens"]), decode[logfile.Lenient[int64]](m["completion_tokens"])
	c.CacheRead = decode[logfile.Lenient[int64]](m["prompt_cache_read_tokens"])
	c.CacheWrite = decode[logfile.Lenient[int64]](m["prompt_cache_write_tokens"])
	if u, ok := c.usage(); ok {
		x.usage = &u
	}
	return x
}

// openHAR reads the entries of an HTTP archive that carry a body.
func openHAR(m members) []*exchange {
	archive := decode[struct {
		Entries []struct {
			Started jsontext.Value `json:"startedDateTime"`
			Time    jsontext.Value `json:"time"`
			Request struct {
				URL      string         `json:"url"`
				Headers  jsontext.Value `json:"headers"`
				PostData struct {
					Text jsontext.Value `json:"text"`
				} `json:"postData"`
			} `json:"request"`
			Response struct {
				Status  jsontext.Value `json:"status"`
				Content struct {
					Text     string `json:"text"`
					Encoding string `json:"encoding"`
				} `json:"content"`
			} `json:"response"`
		} `json:"entries"`
	}](m["log"])
	var out []*exchange
	for _, e := range archive.Entries {
		x := &exchange{url: e.Request.URL, request: object(e.Request.PostData.Text), ofFile: true, start: instant(e.Started)}
		x.session = sessionOfHeaders(e.Request.Headers)
		x.status = httpStatus(e.Response.Status)
		x.failed = x.status >= 400
		x.answered = x.status >= 200 && x.status < 400
		x.stream = e.Response.Content.Text
		if e.Response.Content.Encoding == "base64" {
			data, _ := base64.StdEncoding.DecodeString(x.stream)
			valid, _ := logfile.ValidUTF8(data)
			x.stream = string(valid)
		}
		if ms := decode[logfile.Lenient[float64]](e.Time); ms.OK && ms.V > 0 && ms.V < 1e9 && !x.start.IsZero() {
			x.end = x.start.Add(time.Duration(ms.V * float64(time.Millisecond)))
		}
		out = append(out, x)
	}
	return out
}

// object is a JSON value that some exports write as a string.
func object(raw jsontext.Value) jsontext.Value {
	if raw.Kind() != '"' {
		return raw
	}
	if v := jsontext.Value(strings.TrimSpace(str(raw))); (v.Kind() == '{' || v.Kind() == '[') && v.IsValid() {
		return v
	}
	return raw
}

func httpStatus(raw jsontext.Value) int {
	n := decode[logfile.Lenient[int64]](raw)
	if !n.OK || n.V < 0 || n.V > 999 {
		return 0
	}
	return int(n.V)
}

// dollars is the first cost that is there and can be one.
func dollars(m members, names ...string) *float64 {
	for _, name := range names {
		if v, ok := m.number(name); ok && v >= 0 && v <= 1e9 && !math.IsNaN(v) {
			return &v
		}
	}
	return nil
}

// layouts in which envelopes write a time. Without a zone it is UTC.
var layouts = []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999"}

// instant reads a time: seconds, milliseconds, microseconds or nanoseconds since
// 1970, told by their size, or a date. Zero if it is none.
func instant(raw jsontext.Value) time.Time {
	switch raw.Kind() {
	case '0':
		return since1970(decode[float64](raw))
	case '"':
		s := str(raw)
		for _, layout := range layouts {
			if t, err := time.Parse(layout, s); err == nil && t.Year() > 1970 && t.Year() < 2200 {
				return t.UTC()
			}
		}
	}
	return time.Time{}
}

func since1970(n float64) time.Time {
	if n > 1e20 {
		return time.Time{}
	}
	for n > 1e11 {
		n /= 1000
	}
	if n <= 0 || n > 7e9 || math.IsNaN(n) {
		return time.Time{}
	}
	sec, frac := math.Modf(n)
	return time.Unix(int64(sec), int64(math.Round(frac*1e6))*1000).UTC()
}
