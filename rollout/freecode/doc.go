// Package freecode reads the session logs of FreeCode: events.jsonl, which holds
// every request, call and usage figure but no texts, joined with the message
// store (messages.jsonl, meta.json, memory.json) where that lies beside it.
//
// The reader walks the events once. What a response brings (its text, calls and
// their results) is collected in a turn and settled into the conversation when
// the next request is about to be sent; the conversation follows FreeCode's own
// rules for reloading, pruning and compacting, so that at each request it holds
// what was really sent. Texts that stand in neither file are counted as pieces
// of the conversation but become no items.
//
// Request.Messages counts pieces, not API messages: each text, call, result and
// image of the conversation, and the project context. The provider of the runs
// this was checked on framed every piece with 4 tokens, whatever message it
// stood in, and a request with 3.
package freecode

// Name is the name of this log format, Session.Source.
const Name = "freecode"
