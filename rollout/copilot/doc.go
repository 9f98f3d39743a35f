// Package copilot reads the session files of GitHub Copilot CLI: events.jsonl of
// current versions (also in the flat form) and the single JSON document of 2025.
//
// One assistant.message is one model call (several share one when apiCallId says
// so); what it carried is the newest system.message and, in file order, user
// texts, responses and results, the results of one response in the order of its
// tool requests. A sub-agent's events stand in the same file under its agentId:
// it becomes a session of its own.
//
// Texts of failed calls are a short form of what the model saw, and the wrapping
// of a compaction's summary is not known: both are Inferred. Readable reasoning
// goes back until the session is resumed; captures show no more. The totals of
// session.shutdown are Session.Reported. Request.Messages counts messages,
// without the system prompt.
package copilot
