// Package dataset is fclog's store: plain Parquet tables, Hive-partitioned by
// source and month. It says what the tables hold (schema.go), turns sessions into
// rows (rows.go), gathers the rows of many session files (pack.go), writes them so that
// a killed import leaves the old dataset whole (part.go), and knows which files have
// been imported (index.go, state.go).
//
// # Layout
//
//	fclog-dataset.json                                     marker: schema version, with or without texts
//	TABLE/source=SOURCE/month=YYYY-MM/PART.parquet         rows of one part: what one session file holds
//	TABLE/source=SOURCE/month=YYYY-MM/merged-….parquet     rows of several parts, in the order of their names
//	TABLE/source=none/month=none/empty.parquet             no rows, so that patterns always match
//	_state/files.json                                      cache of what was imported
//	_state/shard-I-of-N.json                               the same, of one of several imports at the same time
//	_state/lock                                            held by the process that writes
//	_tmp/                                                  files being written
//
// # What counts
//
// A part is named by the content it was read from, so the same log under another
// name, packed or not, is the same part, and parts can be written anywhere in any
// order. Import writes the parts of a month together, some 20 MB of logs in one file
// of each table; shards write every part by itself, so that they need not agree. How
// parts are spread over files changes no figure, and Compact makes it depend on the
// parts alone: datasets of the same parts are then equal, byte by byte.
//
// Rows count when the sessions table has a row of their part in a file of
// the same name: the sessions file is put in place last and taken away first.
// Renames make an import safe against being killed, and files and folders are
// forced to disk before a part counts, so it is safe against a power cut too. What is
// lost with a kill is at most what had been read and not yet written.
//
// When a file changed, its new part replaces the old one. Agents also delete from
// their own files, and a file may come half. If the old part holds anything measured
// that the new one lacks (a logged text, a result as sent, a whole output, usage), it
// is kept (measured.go): readers count every session once, from the part with most
// requests, and of those from the one with most usage, so the other is in no total, but
// its texts can still be read by their hash. Rows of a part that was taken out of a file
// of several stay there until they are more than the others, or until Compact; they
// count nowhere.
//
// A dataset either holds texts or does not; the two are never mixed, so one made
// without texts holds none for certain.
package dataset
