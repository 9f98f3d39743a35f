// Package codex reads the rollout logs of the OpenAI Codex CLI: files before
// the envelope of September 2025 up to the paginated files of late 2026.
//
// A file is read twice. The first pass (scan) keeps a few numbers per record
// and settles what only the whole file tells: which usage figures are new, which
// request each belongs to, where copied history ends, which model was at work.
// The second pass (build) replays the response items into the model: the history
// is a list of items, and a request carries what stands in it when the first
// item of its response appears.
package codex

// Name is the source name of sessions read by this package.
const Name = "codex"
