package sweagent

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
	"github.com/fclog/fclog/rollout/shellcmd"
)

// open is a call whose place in the conversation is not known yet.
type open struct {
	call   int
	logged string // its ID as logged; "" none
	inText bool   // it stands in the text of the answer
	whole  string // its output before a template or a limit cut it; "" unknown
	args   *piece
	result *piece
	done   bool
}

// calls records what an answer asked for: the calls beside its text, else the
// command within it.
func (r *run) calls(m *message, s *step) []*open {
	if m == nil {
		return nil
	}
	var out []*open
	for _, t := range calls(m) {
		args := argsText(t.Function.Args)
		o := r.open(t.ID.V, t.Function.Name.V, args, s)
		r.describe(&r.b.Session.Calls[o.call], args)
		out = append(out, o)
	}
	action := s.Action.V
	if action == "" {
		action = m.Action.V
	}
	if len(out) == 0 && trim(action) != "" {
		o := r.open("", "bash", action, s)
		o.inText = true
		r.describeText(&r.b.Session.Calls[o.call], trim(action))
		out = append(out, o)
	}
	if len(out) == 1 {
		out[0].whole = s.Observation.V
	}
	return out
}

func (r *run) open(id, tool, args string, s *step) *open {
	c := rollout.Call{Request: r.request, ID: r.id(id), Tool: tool, Args: r.b.Text(args), ArgsItem: -1, ResultItem: -1, Ran: true, Line: r.line}
	if s.Seconds.OK && s.Seconds.V >= 0 && s.Seconds.V < 1e9 {
		ms := int64(s.Seconds.V*1000 + 0.5)
		c.DurationMS = &ms
	}
	if r.request >= 0 {
		c.Time = r.b.Session.Requests[r.request].Time
	}
	return &open{call: r.b.Call(c), logged: id}
}

// id gives every call an ID of its own: some servers number them anew in every
// answer.
func (r *run) id(logged string) string {
	if logged == "" {
		logged = "call-" + strconv.Itoa(len(r.b.Session.Calls)+1)
	}
	id := logged
	for n := 2; r.ids[id]; n++ {
		id = logged + "#" + strconv.Itoa(n)
	}
	r.ids[id] = true
	return id
}

// tie joins a new piece to the call it belongs to.
func (r *run) tie(p *piece, m *message, calls []*open) {
	switch p.Kind {
	case rollout.AssistantText, rollout.Reasoning:
		p.Request = r.request
	case rollout.ToolCall:
		p.Request = r.request
		for _, o := range calls {
			if o.args == nil && !o.inText && o.logged == p.CallID {
				o.args, p.CallID = p, r.b.Session.Calls[o.call].ID
				return
			}
		}
	case rollout.ToolResult:
		o := answered(m, calls)
		if o == nil {
			r.unasked(p)
			return
		}
		o.result = p
		p.CallID, p.Tool = r.b.Session.Calls[o.call].ID, r.b.Session.Calls[o.call].Tool
	}
}

// answered is the open call a result belongs to: that of its ID, else the oldest.
func answered(m *message, calls []*open) *open {
	id := m.CallID.V + m.ItemID.V
	if len(m.CallIDs.V) > 0 {
		var s string
		if logfile.Unmarshal(m.CallIDs.V[0], &s) == nil {
			id = s
		}
	}
	var oldest *open
	for _, o := range calls {
		if o.result != nil {
			continue
		}
		if id != "" && o.logged == id {
			return o
		}
		if oldest == nil && (id == "" || o.logged == "") {
			oldest = o
		}
	}
	return oldest
}

// unasked is text of the harness after an answer that asked for nothing, such as
// why it was rejected.
func (r *run) unasked(p *piece) {
	if p.Role == rollout.RoleUser {
		p.Kind = rollout.Reminder
		return
	}
	r.fold("result-without-call", "a result stands without a call")
}

// settle fills in where a call and its result stand, and what the result tells.
func (o *open) settle(r *run) {
	c := &r.b.Session.Calls[o.call]
	if o.args != nil {
		c.ArgsItem = o.args.Index
	}
	if o.result == nil || o.done {
		return
	}
	o.done = true
	c.ResultItem = o.result.Index
	r.outcome(c, r.b.Session.Texts[o.result.Text].S, o.whole)
}

var (
	returned = regexp.MustCompile(`^\s*(?:<returncode>(-?\d+)</returncode>|\{\s*"returncode":\s*(-?\d+))`)
	timedOut = regexp.MustCompile(`was cancelled because it took more than|timed out`)
	elided   = regexp.MustCompile(`<elided_chars>|"elided_chars":|<response clipped>`)
	tooLarge = regexp.MustCompile(`^(?:OBSERVATION:\n|Observation: )?<NOTE>This file is too large`)
	windowed = regexp.MustCompile(`\(\d+ more lines (?:above|below)\)`)
	rejected = regexp.MustCompile(`^(?:OBSERVATION:\n|Observation: )?(?:No replacement was performed|ERROR: |The path .* does not exist|Your proposed edit has introduced|Invalid .view_range. parameter)`)
)

// outcome fills in what the result of a call tells.
func (r *run) outcome(c *rollout.Call, sent, whole string) {
	if m := returned.FindStringSubmatch(sent); m != nil && c.Failed == nil {
		failed := m[1]+m[2] != "0"
		c.Failed = &failed
	}
	if c.Failed == nil && (c.Class == rollout.EditTool || c.Class == rollout.ReadTool) {
		failed := rejected.MatchString(sent)
		c.Failed = &failed
	}
	if c.Class == rollout.ShellTool && c.Failed == nil && timedOut.MatchString(sent) && len(sent) < 1000 {
		failed := true
		c.Failed = &failed
	}
	switch {
	case c.Class == rollout.ReadTool && c.Path != "" && (tooLarge.MatchString(sent) || elided.MatchString(sent) || c.Tool != "str_replace_editor" && windowed.MatchString(sent)):
		c.Truncated, c.Handle = rollout.Recoverable, c.Path
		r.cut[c.Path] = true
	case elided.MatchString(sent):
		c.Truncated = rollout.Lost
	}
	if c.Truncated != rollout.NotTruncated && len(whole) > len(sent) {
		full := r.b.Text(whole)
		c.Full = &full
	}
}

// arguments are the call arguments that say what a call is about.
type arguments struct {
	Command text                     `json:"command"`
	Path    text                     `json:"path"`
	Range   logfile.Lenient[[]int64] `json:"view_range"`
}

// describe fills in what name and arguments of a call tell.
func (r *run) describe(c *rollout.Call, args string) {
	var a arguments
	if logfile.Unmarshal([]byte(args), &a) != nil {
		a = arguments{}
	}
	if c.Tool != "str_replace_editor" && c.Tool != "edit_anthropic" {
		c.Class = classOf(c.Tool)
		if c.Class == rollout.ShellTool {
			c.Command = a.Command.V
			r.shell(c)
			return
		}
		c.Path = a.Path.V
		r.effects(c)
		return
	}
	c.Path, c.Class = a.Path.V, rollout.EditTool
	if a.Command.V == "view" {
		c.Class = rollout.ReadTool
		c.Range = lines(a.Range.V)
	}
	r.effects(c)
}

// lines is a range of lines, the first and the last, as "OFFSET:LIMIT".
func lines(v []int64) string {
	if len(v) != 2 || v[0] < 1 || v[0] > rollout.MaxTokens {
		return ""
	}
	start := strconv.FormatInt(v[0]-1, 10)
	if v[1] < v[0] || v[1] > rollout.MaxTokens {
		return start + ":"
	}
	return start + ":" + strconv.FormatInt(v[1]-v[0]+1, 10)
}

// classOf names what the commands of SWE-agent's tools do; all else is shell.
func classOf(tool string) rollout.ToolClass {
	switch tool {
	case "bash", "execute_bash":
		return rollout.ShellTool
	case "open", "goto", "scroll_up", "scroll_down":
		return rollout.ReadTool
	case "find_file", "search_dir", "search_file", "filemap":
		return rollout.SearchTool
	case "create", "edit", "insert", "append", "undo_edit", "str_replace":
		return rollout.EditTool
	}
	return rollout.OtherTool
}

// describeText reads a command as it stands in the text of an answer: one of
// SWE-agent's own, else a shell command.
func (r *run) describeText(c *rollout.Call, action string) {
	word, rest, _ := strings.Cut(action, " ")
	word = strings.TrimSpace(strings.SplitN(word, "\n", 2)[0])
	class := classOf(word)
	if word == "str_replace_editor" {
		c.Tool = word
		r.editorText(c, rest)
		return
	}
	if class == rollout.ShellTool || class == rollout.OtherTool && word != "submit" && !strings.HasPrefix(word, "exit_") {
		c.Class, c.Command = rollout.ShellTool, action
		r.shell(c)
		return
	}
	c.Tool, c.Class = word, class
	switch word {
	case "open", "create":
		words := strings.Fields(rest)
		if len(words) > 0 {
			r.opened = strings.Trim(words[0], `"'`)
		}
		if word == "open" && len(words) > 1 {
			c.Range = words[1] + ":"
		}
		c.Path = r.opened
	case "goto":
		c.Path, c.Range = r.opened, trim(rest)+":"
	case "scroll_up", "scroll_down", "edit", "insert", "append":
		c.Path = r.opened
	}
	if len(c.Range) > 20 {
		c.Range = ""
	}
	r.effects(c)
}

// editorText reads a command line of the editor: its command, a path and options.
func (r *run) editorText(c *rollout.Call, rest string) {
	words := strings.Fields(rest)
	c.Class = rollout.EditTool
	if len(words) > 1 {
		c.Path = strings.Trim(words[1], `"'`)
	}
	if len(words) > 0 && words[0] == "view" {
		c.Class = rollout.ReadTool
		for i, w := range words {
			if w == "--view_range" && i+2 < len(words) {
				from, _ := strconv.ParseInt(words[i+1], 10, 64)
				to, _ := strconv.ParseInt(words[i+2], 10, 64)
				c.Range = lines([]int64{from, to})
			}
		}
	}
	r.effects(c)
}

func (r *run) shell(c *rollout.Call) {
	c.ReadOnly, c.Mutates = shellcmd.Effect(c.Command)
	if shellcmd.Waits(c.Command) {
		c.Poll = rollout.PollUnknown
	}
	for path := range r.cut {
		if len(path) > 4 && c.ReadOnly && strings.Contains(c.Command, path) {
			c.Recovers = max(c.Recovers, path)
		}
	}
}

// effects fills in whether a call of another tool than the shell can change
// anything, and whether it goes back to a file that was shown in part.
func (r *run) effects(c *rollout.Call) {
	c.ReadOnly = c.Class == rollout.ReadTool || c.Class == rollout.SearchTool
	c.Mutates = c.Class == rollout.EditTool
	if c.Class == rollout.ReadTool && r.cut[c.Path] {
		c.Recovers = c.Path
	}
}
