package analyze

import (
	"context"
	_ "embed"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/fclog/fclog/analyze/dataset"
)

//go:embed sql/side/estimates.sql
var sideTables string

// makeSide makes the views of the tables beside those of parts. Other engines read
// their files as they are.
func (d *DB) makeSide(ctx context.Context) error {
	if err := d.exec(ctx, sideTables); err != nil {
		return fmt.Errorf("sql/side/estimates.sql: %w", err)
	}
	return nil
}

// sideViews make the tables beside those of parts readable as raw_TABLE, with rows
// from the folder more too where one is named. There need not be any file.
func (d *DB) sideViews(more string) []string {
	var out []string
	for _, table := range dataset.SideTables() {
		view := fmt.Sprintf("CREATE OR REPLACE VIEW raw_%s AS\nSELECT %s, NULL::VARCHAR AS source, NULL::VARCHAR AS month, NULL::VARCHAR AS stem\nWHERE false",
			table, strings.Join(noValues(dataset.Columns(table)), ", "))
		for _, root := range []string{d.root, more} {
			if root == "" || !hasFiles(filepath.Join(root, table)) {
				continue
			}
			view += fmt.Sprintf("\nUNION ALL BY NAME\nSELECT * EXCLUDE (filename), parse_filename(filename, true) AS stem\nFROM read_parquet(%s, hive_partitioning = true, hive_types_autocast = 0, filename = true)",
				quote(glob(root, table)))
		}
		out = append(out, view)
	}
	return out
}

// noValues are columns of a table that has no file yet.
func noValues(columns []dataset.Column) []string {
	var out []string
	for _, c := range columns {
		out = append(out, fmt.Sprintf("NULL::%s AS %s", duckType(c), quoteName(c.Name)))
	}
	return out
}

var duckTypes = map[dataset.Type]string{
	dataset.TextType: "VARCHAR", dataset.TextsType: "VARCHAR[]", dataset.IntegerType: "BIGINT", dataset.NumberType: "DOUBLE",
	dataset.BoolType: "BOOLEAN", dataset.TimeType: "TIMESTAMP WITH TIME ZONE", dataset.MoneyType: "DECIMAL(18, 9)",
}

func duckType(c dataset.Column) string {
	if c.Type != dataset.RecordsType {
		return duckTypes[c.Type]
	}
	var fields []string
	for _, f := range c.Fields {
		fields = append(fields, quoteName(f.Name)+" "+duckType(f))
	}
	return "STRUCT(" + strings.Join(fields, ", ") + ")[]"
}
