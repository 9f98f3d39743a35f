// Package prompts holds prompt variants as text files, their loader, and the
// tripwire: load-bearing rules as data, and the check that says which of them a
// variant has lost, with the sentence that went.
package prompts
