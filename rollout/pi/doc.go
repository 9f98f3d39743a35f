// Package pi reads the session files of the pi coding agent, versions 1 to 3.
//
// A file is a header and entries that form a tree: each names its parent, the
// file order is not the conversation. One assistant message is one model call;
// it carried the path from the root to its parent, cut by the newest compaction
// on that path. The path to the last entry is the main chain, every abandoned
// branch a chain of its own that begins with the stem. Version 1 has no parents:
// there the file order is the path.
//
// The wrapping of summaries, of the user's own shell commands and of results that
// never came follows pi's own rules (Origin Recomputed). Request.Messages counts
// messages, without the system prompt.
package pi
