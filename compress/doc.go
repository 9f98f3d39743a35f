// Package compress knows what kind of text a tool result is and which parts of
// it could be left out: the classification of shell output, and line-number
// prefixes of file reads.
package compress
