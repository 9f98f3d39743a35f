// Package compress holds the content-aware compression of tool results: what kind
// of text a shell command prints, which parts of it could be left out, and the
// line-number prefixes of file reads.
//
// A Profile is one policy. Freecode follows FreeCode's rules to the byte, blind
// spots included; Careful reads the command line as a shell would and knows more
// tools. Both keep four promises: text of files is never touched, no distinct
// search line goes, every failure line of a log stays with its head and tail, and
// what was left out says under which handle the whole can be had.
package compress
