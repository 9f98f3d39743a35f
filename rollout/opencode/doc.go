// Package opencode reads the sessions of OpenCode: the JSON of its export
// command, its storage tree of JSON files and its SQLite database. All three
// hold the same objects: a session, its messages, their parts.
//
// One assistant message is one model call, or several where it has several
// step-start parts. What a call carried is rebuilt by OpenCode's own rules: the
// messages before it, without those that failed, with cleared tool results
// replaced, and behind a compaction its summary and the kept tail.
//
// A database is never opened where it lies: see snapshot.
package opencode

// Name is the source name of sessions read by this package.
const Name = "opencode"
