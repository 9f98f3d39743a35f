package analyze

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// ErrFunction refuses a function that a question has no use for and that could do
// more than read.
var ErrFunction = errors.New("this function cannot be used here")

// tableFunctions may stand in FROM: they make rows of their arguments, describe the
// database, or read files, which DuckDB itself allows inside the dataset only. The
// others change the database's settings, write logs wherever they are told to, or
// run SQL that nobody has looked at. Unknown ones may come with a new DuckDB.
var tableFunctions = map[string]bool{
	"generate_series": true, "range": true, "unnest": true, "repeat": true, "repeat_row": true, "json_each": true, "json_tree": true, "summary": true,
	"duckdb_columns": true, "duckdb_functions": true, "duckdb_keywords": true, "duckdb_schemas": true, "duckdb_tables": true, "duckdb_types": true,
	"duckdb_views": true, "duckdb_settings": true, "duckdb_memory": true, "duckdb_extensions": true, "duckdb_databases": true, "duckdb_constraints": true,
	"pragma_table_info": true, "pragma_show": true, "pragma_version": true, "pragma_platform": true, "pragma_database_size": true, "pragma_collations": true,
	"pragma_storage_info": true, "icu_calendar_names": true, "pg_timezone_names": true, "test_all_types": true,
	"read_parquet": true, "parquet_scan": true, "parquet_metadata": true, "parquet_schema": true, "parquet_file_metadata": true, "parquet_kv_metadata": true,
	"parquet_full_metadata": true, "parquet_bloom_probe": true, "read_text": true, "read_blob": true, "read_csv": true, "read_csv_auto": true, "sniff_csv": true,
	"read_json": true, "read_json_auto": true, "read_ndjson": true, "read_ndjson_auto": true, "read_json_objects": true, "read_ndjson_objects": true,
	"glob": true,
}

// scalarFunctions that do more than compute.
var scalarFunctions = map[string]bool{"write_log": true, "getenv": true, "set_config": true, "nextval": true, "setseed": true, "sleep_ms": true, "pg_sleep": true}

// unserialized is for statements that DuckDB does not take apart for us (PIVOT):
// no function that is refused may be named in them at all.
var unserialized = regexp.MustCompile(`(?i)\b(\w*(logging|logs?|profiling|peg_parser|checkpoint|scan|secrets?|serialized_sql)|query|query_table|write_log|getenv|sleep_ms|pg_sleep|nextval|setseed)"?(\s|/\*.*?\*/|--[^\n]*\n)*\(`)

// mayCall refuses statements that call functions which could do more than read. It
// runs before the statement is prepared, for preparing may already have effects.
func (d *DB) mayCall(ctx context.Context, query string) error {
	var text string
	if err := d.conn.QueryRowContext(ctx, "SELECT json_serialize_sql(?::VARCHAR)::VARCHAR", query).Scan(&text); err != nil {
		return err
	}
	var tree struct {
		Error   bool   `json:"error"`
		Type    string `json:"error_type"`
		Content any    `json:"statements"`
	}
	if err := json.Unmarshal([]byte(text), &tree); err != nil {
		return fmt.Errorf("reading DuckDB's view of the statement: %w", err)
	}
	if tree.Error {
		if m := unserialized.FindStringSubmatch(query); m != nil {
			return fmt.Errorf("%w: %s", ErrFunction, m[1])
		}
		return nil // a syntax error, which preparing tells better
	}
	return refused(tree.Content, "")
}

// refused looks for calls in a statement taken apart.
func refused(node any, kind string) error {
	switch n := node.(type) {
	case []any:
		for _, child := range n {
			if err := refused(child, kind); err != nil {
				return err
			}
		}
	case map[string]any:
		if name, ok := n["function_name"].(string); ok {
			name = strings.ToLower(name)
			if scalarFunctions[name] || kind == "TABLE_FUNCTION" && !tableFunctions[name] {
				return fmt.Errorf("%w: %s", ErrFunction, name)
			}
		}
		own, _ := n["type"].(string)
		for key, child := range n {
			below := ""
			if key == "function" {
				below = own
			}
			if err := refused(child, below); err != nil {
				return err
			}
		}
	}
	return nil
}
