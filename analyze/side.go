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
			table, strings.Join(dataset.SideColumns(table), ", "))
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
