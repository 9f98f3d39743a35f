package pi

import (
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout/logfile"
)

type (
	str  = logfile.Lenient[string]
	num  = logfile.Lenient[int64]
	flag = logfile.Lenient[bool]
)

// entry is one line of a session file, the header included.
type entry struct {
	Type      str                      `json:"type"`
	ID        str                      `json:"id"`
	Parent    jsontext.Value           `json:"parentId"`
	Timestamp str                      `json:"timestamp"`
	Message   logfile.Lenient[message] `json:"message"`

	// header
	Version      num `json:"version"`
	CWD          str `json:"cwd"`
	ParentFile   str `json:"parentSession"`
	BranchedFrom str `json:"branchedFrom"`

	// compaction, branch_summary, custom_message
	Summary    str            `json:"summary"`
	FirstKept  str            `json:"firstKeptEntryId"`
	KeptIndex  num            `json:"firstKeptEntryIndex"`
	FromHook   flag           `json:"fromHook"`
	CustomType str            `json:"customType"`
	Content    jsontext.Value `json:"content"`

	line   int
	parent int // index of the entry before it on its path; -1 at the root
	onLeaf bool
}

// message is the message of an entry.
type message struct {
	Role    str            `json:"role"`
	Content jsontext.Value `json:"content"`
	Time    num            `json:"timestamp"`

	// assistant
	API        str                    `json:"api"`
	Provider   str                    `json:"provider"`
	Model      str                    `json:"model"`
	Usage      logfile.Lenient[usage] `json:"usage"`
	StopReason str                    `json:"stopReason"`
	ResponseID str                    `json:"responseId"`

	// toolResult
	CallID   str                      `json:"toolCallId"`
	ToolName str                      `json:"toolName"`
	IsError  flag                     `json:"isError"`
	Details  logfile.Lenient[details] `json:"details"`

	// bashExecution
	Command   str  `json:"command"`
	Output    str  `json:"output"`
	ExitCode  num  `json:"exitCode"`
	Cancelled flag `json:"cancelled"`
	Truncated flag `json:"truncated"`
	FullPath  str  `json:"fullOutputPath"`
	Excluded  flag `json:"excludeFromContext"`

	CustomType str `json:"customType"`
}

// details is what is read of a result's details. The shown text stands in them
// a second time and never counts.
type details struct {
	Truncation logfile.Lenient[struct {
		Truncated flag `json:"truncated"`
	}] `json:"truncation"`
	Results logfile.Lenient[[]logfile.Lenient[childResult]] `json:"results"`
}

// childResult is what the subagent extension says of one child.
type childResult struct {
	Agent    str                                         `json:"agent"`
	Model    str                                         `json:"model"`
	Usage    logfile.Lenient[usage]                      `json:"usage"`
	Messages logfile.Lenient[[]logfile.Lenient[message]] `json:"messages"`
}

// block is one part of a message's content.
type block struct {
	Type      str            `json:"type"`
	Text      str            `json:"text"`
	Thinking  str            `json:"thinking"`
	Signature str            `json:"thinkingSignature"`
	Redacted  flag           `json:"redacted"`
	ID        str            `json:"id"`
	Name      str            `json:"name"`
	Arguments jsontext.Value `json:"arguments"`
	Data      str            `json:"data"`
}

// blocks are the parts of a content, which may be a plain string.
func blocks(raw jsontext.Value) []block {
	var text str
	if raw.Kind() == '"' && logfile.Unmarshal(raw, &text) == nil {
		return []block{{Type: str{V: "text", OK: true}, Text: text}}
	}
	var list []logfile.Lenient[block]
	if raw.Kind() != '[' || logfile.Unmarshal(raw, &list) != nil {
		return nil
	}
	var out []block
	for _, b := range list {
		if b.OK {
			out = append(out, b.V)
		}
	}
	return out
}

// joined is the text of a tool result: pi sends its text parts as one.
func joined(parts []block) string {
	var texts []string
	for _, p := range parts {
		if p.Type.V == "text" {
			texts = append(texts, p.Text.V)
		}
	}
	return strings.Join(texts, "\n")
}

// time of an entry: when it was written.
func (e *entry) time() time.Time {
	t, err := time.Parse(time.RFC3339Nano, e.Timestamp.V)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// started is when a message began; zero unknown.
func (m *message) started() time.Time {
	if !m.Time.OK || m.Time.V <= 0 || m.Time.V > maxMillis {
		return time.Time{}
	}
	return time.UnixMilli(m.Time.V).UTC()
}

// maxMillis is the end of the year 9999 in Unix milliseconds: later is damage.
const maxMillis = 253_402_300_799_999
