// Package gemini reads the chat files of Gemini CLI: one JSON object per
// session (to early 2026) or JSON Lines that grow (since about 0.40).
//
// A file is the record of a list of messages: records add a message, replace one
// by its ID, cut the list (a rewind) or set it anew (a checkpoint, after masking,
// compression or a resume). A request carried the list as it stood when its
// answer first appeared; history keeps that list, chat turns it into requests
// and spans.
//
// Reasoning summaries are not sent back. Input includes what was cached; output
// is the sum of the candidates and the thoughts, which Gemini counts apart.
// Request.Messages is the number of contents: turns of one role in a row.
package gemini

// Name is the log format, as in rollout.Session.Source.
const Name = "gemini-cli"
