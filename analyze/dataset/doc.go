// Package dataset is fclog's store: plain Parquet tables, Hive-partitioned by
// source and month, one part per session file. It says what the tables hold
// (schema.go), turns sessions into rows (rows.go), writes parts so that a killed
// import leaves the old dataset whole (part.go), and knows which files have been
// imported (index.go, state.go).
//
// # Layout
//
//	fclog-dataset.json                                     marker: schema version, with or without texts
//	TABLE/source=SOURCE/month=YYYY-MM/PART.parquet         rows of one session file
//	TABLE/source=SOURCE/month=YYYY-MM/merged-….parquet     rows of many, after Compact
//	TABLE/source=none/month=none/empty.parquet             no rows, so that patterns always match
//	_state/files.json                                      cache of what was imported
//	_state/lock                                            held by the process that writes
//	_tmp/                                                  files being written
//
// # What counts
//
// A part is named by the content it was read from, so the same log under another
// name, packed or not, is the same part, and parts can be written anywhere in any
// order. Rows count when the sessions table has a row of their part in a file of
// the same name: the sessions file is put in place last and taken away first.
// Renames make an import safe against being killed, and files and folders are
// forced to disk before a part counts, so it is safe against a power cut too.
//
// When a file changed, its new part replaces the old one. Agents also delete text
// from their own files. If the old part holds logged texts that the new one lacks,
// it is kept: readers count every session once, from the part with most requests,
// so it is in no total, but its texts can still be read by their hash.
//
// A dataset either holds texts or does not; the two are never mixed, so one made
// without texts holds none for certain.
package dataset
