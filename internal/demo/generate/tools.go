package main

import "strings"

// toolNames are the tools of FreeCode in August 2026, in the order sent.
var toolNames = []string{"agent", "bash", "edit", "glob", "grep", "ls", "lsp", "memory", "output", "question", "read", "skill", "todowrite", "webfetch", "websearch", "write"}

// toolDefinitions stands for the definitions sent with every request. They are
// in no log; only their size matters here.
func toolDefinitions() string {
	var b strings.Builder
	for _, name := range toolNames {
		b.WriteString(`{"name":"` + name + `","description":"The ` + name + ` tool. Give every required argument; paths are absolute, numbers are plain. The result comes back as text and may be cut when it is long.","input_schema":{"type":"object","properties":{"path":{"type":"string","description":"Absolute path of the file or folder"},"query":{"type":"string","description":"What to look for or to do"},"limit":{"type":"number","description":"At most this many lines"}},"required":["path"]}}` + "\n")
	}
	return b.String()
}
