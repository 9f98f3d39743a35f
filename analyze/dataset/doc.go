// Package dataset is fclog's store: plain Parquet tables, Hive-partitioned by
// source and month, one part per session file. It says what the tables hold
// (schema.go), turns sessions into rows, writes parts so that a killed import
// leaves the old dataset whole, and knows which files have been imported.
package dataset
