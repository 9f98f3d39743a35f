// Package page writes a report as one HTML file that needs nothing else: no
// network, no other file.
//
// page.go is what a report consists of, sections with prose, tables and figures;
// the templates, the style sheet and the script are files of their own. chart_*.go
// turn numbers into figures and know nothing of where the numbers are from. Every
// figure has a table twin with the same numbers, and the script shows of a mark
// what its row of that table says.
//
// All text passes html/template's escaping. Text of logs is marked as such, so that
// it also passes the escaping of the term package and keeps its direction of
// writing to itself.
package page
