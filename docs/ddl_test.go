package docs

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/analyze/dataset"
)

var updateDDL = flag.Bool("update-ddl", false, "write the files in ddl anew")

// engine is how one engine declares a dataset's tables.
type engine struct {
	name  string
	types map[dataset.Type]string
	table func(table string, columns []string) string
}

func engines() []engine {
	return []engine{
		{
			name: "spark",
			types: map[dataset.Type]string{
				dataset.TextType: "STRING", dataset.TextsType: "ARRAY<STRING>", dataset.IntegerType: "BIGINT",
				dataset.NumberType: "DOUBLE", dataset.BoolType: "BOOLEAN", dataset.TimeType: "TIMESTAMP",
			},
			table: func(table string, columns []string) string {
				return fmt.Sprintf("CREATE TABLE raw_%s (\n%s,\n  source STRING,\n  month STRING\n)\nUSING PARQUET\nPARTITIONED BY (source, month)\nLOCATION 's3a://BUCKET/dataset/%s';\nMSCK REPAIR TABLE raw_%s;\n",
					table, strings.Join(columns, ",\n"), table, table)
			},
		},
		{
			name: "trino",
			types: map[dataset.Type]string{
				dataset.TextType: "varchar", dataset.TextsType: "array(varchar)", dataset.IntegerType: "bigint",
				dataset.NumberType: "double", dataset.BoolType: "boolean", dataset.TimeType: "timestamp(3)",
			},
			table: func(table string, columns []string) string {
				return fmt.Sprintf("CREATE TABLE hive.fclog.raw_%s (\n%s,\n  source varchar,\n  month varchar\n)\nWITH (format = 'PARQUET', external_location = 's3://BUCKET/dataset/%s', partitioned_by = ARRAY['source', 'month']);\nCALL hive.system.sync_partition_metadata('fclog', 'raw_%s', 'FULL');\n",
					table, strings.Join(columns, ",\n"), table, table)
			},
		},
		{
			name: "bigquery",
			types: map[dataset.Type]string{
				dataset.TextType: "STRING", dataset.TextsType: "ARRAY<STRING>", dataset.IntegerType: "INT64",
				dataset.NumberType: "FLOAT64", dataset.BoolType: "BOOL", dataset.TimeType: "TIMESTAMP",
			},
			table: func(table string, columns []string) string {
				return fmt.Sprintf("CREATE EXTERNAL TABLE fclog.raw_%s (\n%s\n)\nWITH PARTITION COLUMNS (source STRING, month STRING)\nOPTIONS (format = 'PARQUET', enable_list_inference = TRUE,\n  uris = ['gs://BUCKET/dataset/%s/*.parquet'], hive_partition_uri_prefix = 'gs://BUCKET/dataset/%s');\n",
					table, strings.Join(columns, ",\n"), table, table)
			},
		},
	}
}

// ddl declares every table with the columns that this version writes. source and
// month are folders; sessions also holds source as a column, which is left to them.
func (e engine) ddl() string {
	quote := map[string]string{"spark": "`", "bigquery": "`", "trino": `"`}[e.name]
	out := "-- Written by: go test ./docs -run DDL -update-ddl\n"
	for _, table := range dataset.Tables() {
		var columns []string
		for _, c := range dataset.Columns(table) {
			if c.Name != "source" {
				columns = append(columns, fmt.Sprintf("  %s%s%s %s", quote, c.Name, quote, e.types[c.Type]))
			}
		}
		out += "\n" + e.table(table, columns)
	}
	return out
}

// The declarations are those of the columns that parts are written with.
func TestDDL(t *testing.T) {
	for _, e := range engines() {
		path := filepath.Join("ddl", e.name+".sql")
		if *updateDDL {
			require.NoError(t, os.WriteFile(path, []byte(e.ddl()), 0o644))
		}
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, e.ddl(), string(got), "%s: run go test ./docs -run DDL -update-ddl", path)
		assert.Contains(t, string(got), "unlogged_tokens", "requests")
	}
	page, err := os.ReadFile("other-engines.md")
	require.NoError(t, err)
	for _, e := range engines() {
		assert.Contains(t, string(page), "ddl/"+e.name+".sql")
	}
}
