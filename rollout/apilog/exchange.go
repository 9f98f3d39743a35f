package apilog

import (
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout"
)

// api is the interface a body belongs to.
type api int

const (
	noAPI api = iota
	anthropicAPI
	chatAPI
	responsesAPI
	geminiAPI
	spanAPI
)

// exchange is one call of a model: what the envelope says of it, and what its
// bodies hold.
type exchange struct {
	line      int
	start     time.Time
	end       time.Time
	first     time.Time // first token
	url       string
	status    int    // HTTP status; 0 unknown
	failed    bool   // the envelope says so
	answered  bool   // there is a response
	noted     bool   // the envelope says that no answer came
	session   string // ID of the session; "" none
	trace     string // ID of a trace, which may be the session or one call of it
	ofFile    bool   // the envelope keeps one process a file
	billed    bool   // the envelope holds nothing but calls of models
	agent     string
	span      string // ID of the span, and of the one above it
	parent    string
	subAgent  string // span of the agent it belongs to, where another agent started that one
	startedBy string // call that started it
	provider  string
	model     string
	id        string // of the response
	record    string // ID the envelope gives the call
	usd       *float64
	usage     *rollout.Usage
	final     bool // the usage is the last word

	request  jsontext.Value // body, gone once it is parsed
	response jsontext.Value
	stream   string // the response as event-stream text
	api      api

	payload
	lists    lists
	outputs  []int32
	itemIDs  map[string][]int32 // parts by the ID of their output item
	partial  bool               // the body is not all that the model saw
	redacted bool
	summary  bool // its response is what a later history begins with
}

// lists are the payload as nodes of the store. core is the conversation without
// what clients inject and take away again.
type lists struct{ tools, system, conversation, core int32 }

// apiOfURL tells the API by the path of a call. known is false where the path
// says nothing; other calls to the same hosts are no model requests.
func apiOfURL(url string) (a api, known bool) {
	path, _, _ := strings.Cut(url, "?")
	switch {
	case path == "":
		return noAPI, false
	case strings.HasSuffix(path, "/messages"):
		return anthropicAPI, true
	case strings.HasSuffix(path, "/chat/completions"):
		return chatAPI, true
	case strings.HasSuffix(path, "/responses"):
		return responsesAPI, true
	case strings.HasSuffix(path, "enerateContent"):
		return geminiAPI, true
	case strings.Contains(path, "count_tokens") || strings.Contains(path, "ountTokens") || strings.HasSuffix(path, "/embeddings"):
		return noAPI, true
	}
	return noAPI, false
}

// shape is the members by which a body's API is told.
type shape struct {
	Messages jsontext.Value `json:"messages"`
	Input    jsontext.Value `json:"input"`
	Contents jsontext.Value `json:"contents"`
	System   jsontext.Value `json:"system"`
	Request  jsontext.Value `json:"request"`
	Tools    jsontext.Value `json:"tools"`
	Stop     jsontext.Value `json:"stop_sequences"`
	Thinking jsontext.Value `json:"thinking"`
}

// apiOfBody tells the API by the members of a body.
func apiOfBody(raw jsontext.Value) api {
	if raw.Kind() != '{' {
		return noAPI
	}
	s := decode[shape](raw)
	switch {
	case s.Messages.Kind() == '[':
		if len(s.System) > 0 || len(s.Stop) > 0 || len(s.Thinking) > 0 || anthropicTools(s.Tools) {
			return anthropicAPI
		}
		return chatAPI
	case s.Contents.Kind() == '[':
		return geminiAPI
	case s.Input.Kind() == '[' || s.Input.Kind() == '"':
		return responsesAPI
	}
	return noAPI
}

func anthropicTools(raw jsontext.Value) bool {
	if raw.Kind() != '[' {
		return false
	}
	tools := decode[[]struct {
		Schema jsontext.Value `json:"input_schema"`
	}](raw)
	return len(tools) > 0 && len(tools[0].Schema) > 0
}

// unwrap takes the body out of the envelope that Google's Code Assist puts
// around it.
func unwrap(raw jsontext.Value) (body jsontext.Value, model string) {
	outer := decode[struct {
		Model   jsontext.Value `json:"model"`
		Request jsontext.Value `json:"request"`
	}](raw)
	if outer.Request.Kind() == '{' && apiOfBody(outer.Request) == geminiAPI {
		return outer.Request, str(outer.Model)
	}
	return raw, ""
}

// modelOfURL is the model that a Gemini path names.
func modelOfURL(url string) string {
	_, model, ok := strings.Cut(url, "/models/")
	if !ok {
		return ""
	}
	model, _, _ = strings.Cut(model, ":")
	return model
}

// parse turns the bodies of an exchange into parts. False: it is no call of a
// model.
func (x *exchange) parse(p *parser) bool {
	body, model, byBody := x.request, "", apiOfBody(x.request)
	if byBody == noAPI {
		body, model = unwrap(x.request)
		byBody = apiOfBody(body)
	}
	known := false
	if x.api == noAPI {
		x.api, known = apiOfURL(x.url)
	}
	if byBody == noAPI && x.billed {
		x.unlogged(p)
		return true
	}
	if x.api == noAPI && known || x.api != spanAPI && byBody == noAPI {
		return false
	}
	if x.api == noAPI || x.api != spanAPI && !fits(x.api, byBody) {
		x.api = byBody
	}
	p.calls = nil
	switch x.api {
	case anthropicAPI, chatAPI:
		x.payload = p.messagesPayload(body)
	case responsesAPI:
		x.payload = p.responsesPayload(body)
	case geminiAPI:
		x.payload = p.geminiPayload(body)
	case spanAPI:
		x.payload = p.spanPayload(body)
	}
	x.session = first(x.session, x.payload.session)
	x.model = first(x.model, x.payload.model, model, modelOfURL(x.url))
	x.reply(p)
	x.request, x.response, x.stream = nil, nil, ""
	x.settle(p.st)
	return true
}

// unlogged reads a call whose body the envelope does not hold: what it says of
// the response and the usage still counts.
func (x *exchange) unlogged(p *parser) {
	x.api = chatAPI
	x.reply(p)
	x.request, x.response, x.stream = nil, nil, ""
	x.settle(p.st)
}

func fits(a, byBody api) bool {
	messages := func(a api) bool { return a == anthropicAPI || a == chatAPI }
	return a == byBody || messages(a) && messages(byBody)
}

// settle stores the payload as nodes.
func (x *exchange) settle(st *store) {
	var core []int32
	for _, id := range x.conversation {
		if k := st.parts[id].kind; k != rollout.Reminder && st.parts[id].label != reference {
			core = append(core, id)
		}
	}
	x.lists = lists{
		tools: st.list(0, x.tools), system: st.list(0, x.system),
		conversation: st.list(0, x.conversation), core: st.list(0, core),
	}
	x.tools, x.system, x.conversation = nil, nil, nil
}
