// Package analyze answers questions about a dataset with DuckDB. The questions
// are the .sql files under sql/; Audit runs those that the audit report is made
// of and carries their answers.
package analyze
