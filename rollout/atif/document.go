package atif

import (
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout/logfile"
)

// document is one trajectory: a file's own, or one embedded in it.
type document struct {
	root
	line     int
	steps    []numbered
	children []*document
}

// root is the members of a trajectory but for its steps and children.
type root struct {
	Schema     logfile.Lenient[string]       `json:"schema_version"`
	Session    logfile.Lenient[string]       `json:"session_id"`
	Trajectory logfile.Lenient[string]       `json:"trajectory_id"`
	Agent      logfile.Lenient[agent]        `json:"agent"`
	Final      logfile.Lenient[finalMetrics] `json:"final_metrics"`
	Continued  logfile.Lenient[string]       `json:"continued_trajectory_ref"`
	Extra      logfile.Lenient[rootExtra]    `json:"extra"`
}

type agent struct {
	Name    logfile.Lenient[string]           `json:"name"`
	Version logfile.Lenient[string]           `json:"version"`
	Model   logfile.Lenient[string]           `json:"model_name"`
	Tools   logfile.Lenient[[]jsontext.Value] `json:"tool_definitions"`
	Extra   logfile.Lenient[agentExtra]       `json:"extra"`
}

type agentExtra struct {
	CWD  logfile.Lenient[string]   `json:"cwd"`
	CWDs logfile.Lenient[[]string] `json:"cwds"`
}

type rootExtra struct {
	SystemPrompt logfile.Lenient[string] `json:"system_prompt"`
	WorkingDir   logfile.Lenient[string] `json:"working_dir"`
}

// numbered is a step as it stands in the file.
type numbered struct {
	raw  []byte
	line int
}

type step struct {
	line        int
	rawMetrics  []byte                                       // canonical JSON
	Time        logfile.Lenient[string]                      `json:"timestamp"`
	Source      logfile.Lenient[string]                      `json:"source"`
	Message     jsontext.Value                               `json:"message"`
	Model       logfile.Lenient[string]                      `json:"model_name"`
	Reasoning   logfile.Lenient[string]                      `json:"reasoning_content"`
	Calls       logfile.Lenient[[]logfile.Lenient[toolCall]] `json:"tool_calls"`
	Observation logfile.Lenient[observation]                 `json:"observation"`
	Metrics     logfile.Lenient[metrics]                     `json:"metrics"`
	Copied      logfile.Lenient[bool]                        `json:"is_copied_context"`
	LLMCalls    logfile.Lenient[int64]                       `json:"llm_call_count"`
	Extra       logfile.Lenient[stepExtra]                   `json:"extra"`
}

type toolCall struct {
	ID        logfile.Lenient[string] `json:"tool_call_id"`
	Name      logfile.Lenient[string] `json:"function_name"`
	Arguments jsontext.Value          `json:"arguments"`
}

type observation struct {
	Results logfile.Lenient[[]logfile.Lenient[result]] `json:"results"`
}

type result struct {
	CallID    logfile.Lenient[string]           `json:"source_call_id"`
	Content   jsontext.Value                    `json:"content"`
	Subagents logfile.Lenient[[]jsontext.Value] `json:"subagent_trajectory_ref"`
	Extra     logfile.Lenient[resultExtra]      `json:"extra"`
}

// stepExtra is what converters keep beside a step, as far as it tells what was
// really sent.
type stepExtra struct {
	ResponseID   logfile.Lenient[string]      `json:"response_id"`
	Sidechain    logfile.Lenient[bool]        `json:"is_sidechain"`
	CWD          logfile.Lenient[string]      `json:"cwd"`
	RawArguments logfile.Lenient[string]      `json:"raw_arguments"`
	IsError      logfile.Lenient[bool]        `json:"tool_result_is_error"`
	Result       logfile.Lenient[resultExtra] `json:"tool_result_metadata"`
	Raw          logfile.Lenient[rawResult]   `json:"raw_tool_result"`
}

type resultExtra struct {
	Raw logfile.Lenient[rawResult] `json:"raw_tool_result"`
}

type rawResult struct {
	CallID  logfile.Lenient[string] `json:"tool_use_id"`
	Content jsontext.Value          `json:"content"`
	IsError logfile.Lenient[bool]   `json:"is_error"`
}

// part is an element of a message or a result that is a list.
type part struct {
	Type   logfile.Lenient[string] `json:"type"`
	Text   logfile.Lenient[string] `json:"text"`
	Source logfile.Lenient[struct {
		Path logfile.Lenient[string] `json:"path"`
	}] `json:"source"`
}

// parser walks the documents of a file and knows the line it is on.
type parser struct {
	data   []byte
	dec    *jsontext.Decoder
	line   int
	offset int
	start  int // where the document that was read last begins
}

func newParser(data []byte) *parser {
	dec := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	return &parser{data: data, dec: dec, line: 1}
}

// here is the line of the value that comes next.
func (p *parser) here() int {
	end := int(p.dec.InputOffset())
	for end < len(p.data) && bytes.IndexByte([]byte(" \t\r\n,:"), p.data[end]) >= 0 {
		end++
	}
	p.line += bytes.Count(p.data[p.offset:end], []byte("\n"))
	p.offset = end
	return p.line
}

// next reads one trajectory. What stands before a break of the JSON is kept; the
// error says that there was one. io.EOF with a nil document is the end.
func (p *parser) next() (*document, error) {
	// A list of trajectories is read as if they followed each other.
	for kind := p.dec.PeekKind(); kind == '[' || kind == ']'; kind = p.dec.PeekKind() {
		if _, err := p.dec.ReadToken(); err != nil {
			return nil, err
		}
	}
	line := p.here()
	p.start = p.offset
	if kind := p.dec.PeekKind(); kind != '{' {
		if _, err := p.dec.ReadToken(); err != nil {
			return nil, err
		}
		return nil, errNoObject
	}
	if _, err := p.dec.ReadToken(); err != nil {
		return nil, err
	}
	d := &document{line: line}
	err := p.members(d)
	if err != nil && errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return d, err
}

var errNoObject = errors.New("no JSON object")

// last is the text of the document that was read last.
func (p *parser) last() []byte { return p.data[p.start:p.dec.InputOffset()] }

func (p *parser) members(d *document) error {
	members := jsontext.Value("{")
	defer func() {
		members = append(bytes.TrimSuffix(members, []byte(",")), '}')
		_ = logfile.Unmarshal(members, &d.root)
	}()
	for p.dec.PeekKind() == '"' {
		name, err := p.dec.ReadValue()
		if err != nil {
			return err
		}
		key := string(name)
		switch kind := p.dec.PeekKind(); {
		case key == `"steps"` && kind == '[':
			err = p.elements(func() error { return p.step(d) })
		case key == `"subagent_trajectories"` && kind == '[':
			err = p.elements(func() error { return p.child(d) })
		default:
			var value jsontext.Value
			if value, err = p.dec.ReadValue(); err == nil {
				members = append(append(append(append(members, key...), ':'), value...), ',')
			}
		}
		if err != nil {
			return err
		}
	}
	_, err := p.dec.ReadToken()
	return err
}

func (p *parser) elements(read func() error) error {
	if _, err := p.dec.ReadToken(); err != nil {
		return err
	}
	for kind := p.dec.PeekKind(); kind != ']'; kind = p.dec.PeekKind() {
		if err := read(); err != nil {
			return err
		}
	}
	_, err := p.dec.ReadToken()
	return err
}

func (p *parser) step(d *document) error {
	line := p.here()
	raw, err := p.dec.ReadValue()
	if err == nil {
		d.steps = append(d.steps, numbered{bytes.Clone(raw), line})
	}
	return err
}

func (p *parser) child(d *document) error {
	if p.dec.PeekKind() != '{' {
		return p.dec.SkipValue()
	}
	child, err := p.next()
	if child != nil {
		d.children = append(d.children, child)
	}
	return err
}
