package analyze

import "context"

// Touched is what techniques could touch of one session at most, in provider tokens
// over all requests that carried it.
type Touched struct {
	Source    string
	SessionID string
	Root      string // ID of the session it belongs to
	Shell     int64  // results of shell commands
	Results   int64  // results of all tools
	Prefixes  int64  // line-number prefixes
}

// Touched lists the selected sessions with what techniques could touch.
func (d *DB) Touched(ctx context.Context) ([]Touched, error) {
	query, err := fleetFiles.ReadFile("sql/fleet/touched.sql")
	if err != nil {
		return nil, err
	}
	if err := d.fill(ctx, d.conn, string(query)); err != nil {
		return nil, err
	}
	rows, err := d.conn.QueryContext(ctx, string(query))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []Touched
	for rows.Next() {
		var t Touched
		if err := rows.Scan(&t.Source, &t.SessionID, &t.Root, &t.Shell, &t.Results, &t.Prefixes); err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, rows.Err()
}

// Population is how many sessions were selected before a sample was drawn.
func (d *DB) Population(ctx context.Context) (n int64, err error) {
	err = d.conn.QueryRowContext(ctx, "SELECT sessions FROM population").Scan(&n)
	return n, err
}
