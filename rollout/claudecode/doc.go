// Package claudecode reads the session transcripts of Claude Code.
//
// A transcript is a tree of lines, not a list of requests: one API response
// stands on several lines, results of parallel calls hang beside the path from
// a response to the root, rewound branches stay in the file, and sub-agents live
// in the same file, in progress lines or in files of their own. Reading goes in
// three steps:
//
//  1. load decodes the lines and sorts them into conversations: the main one
//     and one for each sub-agent (file.go, record.go, block.go);
//  2. a rebuild walks each conversation once and records its requests: along
//     the tree (tree.go, walk.go, compact.go, clear.go), or, where newer versions
//     logged every request, from those records (wire.go);
//  3. calls, results and what is missing are tied up (call.go, finish.go).
//
// The format is undocumented and changes without notice: what is not known is
// counted and skipped, never fatal.
package claudecode

// Name is the Session.Source of this format.
const Name = "claude-code"
