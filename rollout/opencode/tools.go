package opencode

import (
	"regexp"
	"slices"
	"strings"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// classes sorts OpenCode's tools into the common vocabulary.
var classes = map[string]rollout.ToolClass{
	"bash": rollout.ShellTool, "shell": rollout.ShellTool,
	"read": rollout.ReadTool, "list": rollout.ReadTool,
	"grep": rollout.SearchTool, "glob": rollout.SearchTool,
	"edit": rollout.EditTool, "multiedit": rollout.EditTool, "write": rollout.EditTool,
	"patch": rollout.EditTool, "apply_patch": rollout.EditTool,
	"todowrite": rollout.TodoTool, "todoread": rollout.TodoTool,
	"task":     rollout.AgentTool,
	"webfetch": rollout.WebTool, "websearch": rollout.WebTool, "codesearch": rollout.WebTool,
}

// lookers are tools that only read; harmless ones keep notes or ask the user, and
// leave files alone.
var (
	lookers  = map[string]bool{"read": true, "list": true, "grep": true, "glob": true, "lsp": true, "skill": true, "webfetch": true, "websearch": true, "codesearch": true, "todoread": true}
	harmless = map[string]bool{"todowrite": true, "question": true, "invalid": true, "plan_enter": true, "plan_exit": true}
)

// argumentFields are the arguments that describe what a call is about.
type argumentFields struct {
	Command  text   `json:"command"`
	FilePath text   `json:"filePath"`
	Path     text   `json:"path"`
	Patch    text   `json:"patchText"`
	Offset   number `json:"offset"`
	Limit    number `json:"limit"`
}

// describe fills in what a call's arguments tell.
func describe(c *rollout.Call, args string) {
	var a argumentFields
	_ = logfile.Unmarshal([]byte(args), &a)
	c.Class = rollout.OtherTool
	if class, ok := classes[c.Tool]; ok {
		c.Class = class
	}
	c.ReadOnly = lookers[c.Tool]
	c.Mutates = !c.ReadOnly && !harmless[c.Tool]
	switch c.Class {
	case rollout.ShellTool:
		c.Command = a.Command.V
		c.ReadOnly, c.Mutates = effect(c.Command)
		if waits.MatchString(c.Command) {
			c.Poll = rollout.PollUnknown
		}
	case rollout.ReadTool, rollout.SearchTool, rollout.EditTool:
		c.Path = first(a.FilePath.V, a.Path.V, patched(a.Patch.V))
		if c.Tool == "read" {
			c.Range = rangeOf(a)
		}
	}
}

// rangeOf is "OFFSET:LIMIT" with the absent side empty; "" for the default.
func rangeOf(a argumentFields) string {
	if !a.Offset.OK && !a.Limit.OK {
		return ""
	}
	return digits(a.Offset) + ":" + digits(a.Limit)
}

var patchTarget = regexp.MustCompile(`(?m)^\*\*\* (?:Add|Update|Delete) File: (.+)$`)

// patched is the file a patch changes, if it is one.
func patched(patch string) string {
	files := patchTarget.FindAllStringSubmatch(patch, 2)
	if len(files) != 1 {
		return ""
	}
	return strings.TrimSpace(files[0][1])
}

var (
	savedTo    = regexp.MustCompile(`(?m)^(?:The tool call succeeded but the output was truncated\. )?Full output saved to: (.+)$`)
	cutStart   = regexp.MustCompile(`^(?:\.\.\.|…)(?:output|\d+ (?:lines|bytes)) truncated(?:\.\.\.|…)\n`)
	cutEnd     = regexp.MustCompile(`(?m)^(?:\.\.\.|…)\d+ (?:lines|bytes) truncated(?:\.\.\.|…)$`)
	lostOutput = regexp.MustCompile(`(?m)^(?:\(Output was truncated due to length limit\)|\(Results are truncated|bash tool truncated output as it exceeded \d+ char limit)`)
	readCapped = regexp.MustCompile(`\n\(Output (?:capped at 50 KB\.|truncated at \d+ bytes)`)
	readMore   = regexp.MustCompile(`\n\((?:Showing lines \d+-\d+(?: of \d+)?\. Use offset=\d+ to continue\.|File has more lines\. Use 'offset' parameter to read beyond line \d+)\)`)
	childID    = regexp.MustCompile(`(?m)^(?:<task id="(ses_\w+)"|session_id: (ses_\w+)|task_id: (ses_\w+))`)
)

// edge bounds how far from its ends an output is searched for what OpenCode
// itself wrote there: the middle is the tool's own.
const edge = 2000

// ends are the first and last stretches of a text.
func ends(s string) (head, tail string) { return s[:min(len(s), edge)], s[max(0, len(s)-edge):] }

// hints are words one of which stands in every notice of a cut: few outputs have
// to be looked at more closely.
var hints = []string{"truncated", "capped", " to continue.", "File has more lines"}

// truncation tells whether the model saw only a part of the output.
func truncation(c *rollout.Call, text string) {
	head, tail := ends(text)
	if !slices.ContainsFunc(hints, func(h string) bool { return strings.Contains(head, h) || strings.Contains(tail, h) }) {
		return
	}
	switch {
	case c.Tool == "read":
		// A read that stopped at the model's own limit is whole.
		limited := c.Range != "" && !strings.HasSuffix(c.Range, ":")
		if readCapped.MatchString(tail) || !limited && readMore.MatchString(tail) {
			c.Truncated, c.Handle = rollout.Recoverable, c.Path
		}
	case cutStart.MatchString(head) || cutEnd.MatchString(tail):
		c.Truncated = rollout.Lost
		for _, s := range []string{tail, head} {
			if m := savedTo.FindStringSubmatch(s); m != nil {
				c.Truncated, c.Handle = rollout.Recoverable, strings.TrimSpace(m[1])
			}
		}
	case lostOutput.MatchString(tail) || c.Class == rollout.ShellTool && lostOutput.MatchString(head):
		c.Truncated = rollout.Lost
	}
}

// recentHandles bounds how far back a recovery is looked for, in cut outputs.
const recentHandles = 100

// recovers looks for an earlier cut output that a call goes back to: a later
// part of the same file, or the saved output by its path.
func (r *builder) recovers(c *rollout.Call) {
	for _, h := range slices.Backward(r.handles[max(0, len(r.handles)-recentHandles):]) {
		saved := strings.Contains(h, "tool-output")
		switch {
		case c.Class == rollout.ReadTool && c.Path == h && (saved || c.Range != "" && !strings.HasPrefix(c.Range, ":")),
			c.Class == rollout.SearchTool && c.Path == h && saved,
			c.Class == rollout.ShellTool && saved && strings.Contains(c.Command, h):
			c.Recovers = h
			return
		}
	}
}

// childIn finds the session of a sub-agent in its result.
func childIn(text string) string {
	return first(append(childID.FindStringSubmatch(text), "", "", "", "")[1:4]...)
}
