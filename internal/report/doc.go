// Package report shows an audit: on a terminal, as Markdown, as JSON.
//
// document.go is the one model both text forms are made of: sections of prose,
// tables and a chart. head.go, tokens.go, items.go, calls.go and remarks.go build
// it from an audit; terminal.go and markdown.go only lay it out. JSON is the
// audit itself.
//
// Text that comes from a log is marked as such in the model and passes the
// escaping of the term package on its way out. Prose is fclog's own and never
// holds text of a log, because it goes through a Markdown renderer.
package report
