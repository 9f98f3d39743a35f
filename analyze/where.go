package analyze

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
)

// ErrCondition refuses what is not one condition over the columns of sessions.
var ErrCondition = errors.New("this is no condition over the columns of sessions")

// checkWhere refuses a condition that is anything but an expression: DuckDB takes
// apart a statement with the condition in it, and nothing but its WHERE clause may
// differ from the statement without. A subquery is refused, since the condition is
// looked at before access to files outside of the dataset ends.
func (d *DB) checkWhere(ctx context.Context, condition string) error {
	if condition == "" {
		return nil
	}
	want, _, err := d.takenApart(ctx, "true")
	if err != nil {
		return err
	}
	got, clause, err := d.takenApart(ctx, condition)
	switch {
	case err != nil:
		return err
	case !reflect.DeepEqual(got, want):
		return fmt.Errorf("%w: %s", ErrCondition, condition)
	case holdsQuery(clause):
		return fmt.Errorf("%w: a query inside of it is not allowed", ErrCondition)
	}
	if err := refused(clause, ""); err != nil {
		return err
	}
	return d.fits(ctx, condition)
}

// fits says what DuckDB finds wrong with a condition, such as a column that is not
// there. Preparing reads no data.
func (d *DB) fits(ctx context.Context, condition string) error {
	prepared, err := d.conn.PrepareContext(ctx, "SELECT 1 FROM raw_sessions AS sessions WHERE ("+condition+"\n)")
	if err != nil {
		if text, _, ok := Brief(err); ok {
			return fmt.Errorf("%w: %s; 'fclog query DATASET \"DESCRIBE sessions\"' lists them", ErrCondition, text)
		}
		return err
	}
	return prepared.Close()
}

// openingError names the dataset, unless the user's condition was at fault.
func openingError(dir string, err error) error {
	if errors.Is(err, ErrCondition) || errors.Is(err, ErrFunction) {
		return err
	}
	return fmt.Errorf("opening dataset %s: %w", dir, err)
}

// takenApart is a statement with the condition as DuckDB sees it, and the condition
// itself, which is not in it any more.
func (d *DB) takenApart(ctx context.Context, condition string) (statement, clause any, err error) {
	var text string
	query := "SELECT 1 FROM sessions WHERE (" + condition + "\n)"
	if err := d.conn.QueryRowContext(ctx, "SELECT json_serialize_sql(?::VARCHAR)::VARCHAR", query).Scan(&text); err != nil {
		return nil, nil, err
	}
	var tree struct {
		Error      bool             `json:"error"`
		Message    string           `json:"error_message"`
		Statements []map[string]any `json:"statements"`
	}
	if err := json.Unmarshal([]byte(text), &tree); err != nil {
		return nil, nil, fmt.Errorf("reading DuckDB's view of the condition: %w", err)
	}
	if tree.Error || len(tree.Statements) != 1 {
		return nil, nil, fmt.Errorf("%w: %s", ErrCondition, condition)
	}
	node, _ := tree.Statements[0]["node"].(map[string]any)
	clause = node["where_clause"]
	delete(node, "where_clause")
	return withoutPlaces(tree.Statements[0]), clause, nil
}

// withoutPlaces leaves out where in the text something stood.
func withoutPlaces(node any) any {
	switch n := node.(type) {
	case []any:
		for i := range n {
			n[i] = withoutPlaces(n[i])
		}
	case map[string]any:
		delete(n, "query_location")
		for key := range n {
			n[key] = withoutPlaces(n[key])
		}
	}
	return node
}

// holdsQuery says whether an expression has a query in it.
func holdsQuery(node any) bool {
	switch n := node.(type) {
	case []any:
		for _, child := range n {
			if holdsQuery(child) {
				return true
			}
		}
	case map[string]any:
		if n["class"] == "SUBQUERY" {
			return true
		}
		for _, child := range n {
			if holdsQuery(child) {
				return true
			}
		}
	}
	return false
}
