package main

import (
	"database/sql"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/duckdb/duckdb-go/v2"
	"github.com/parquet-go/parquet-go"

	"github.com/fclog/fclog/internal/report"
	"github.com/fclog/fclog/internal/term"
)

const (
	// maxTermRows bounds a table on the screen: it is laid out as a whole.
	maxTermRows = 10_000
	// maxTermCell is the widest field of such a table.
	maxTermCell = 200
)

// writeRows writes the answer of a query in the format asked for.
func (a *app) writeRows(w io.Writer, f outputFlags, rows *sql.Rows) error {
	types, err := rows.ColumnTypes()
	if err != nil {
		return err
	}
	switch f.format {
	case "csv":
		return writeCSV(w, types, rows, a.screen(f))
	case "json":
		return writeJSON(w, types, rows)
	case "parquet":
		return writeParquet(w, types, rows)
	}
	return a.writeTable(w, f, types, rows)
}

// scanRows calls do with the values of every row.
func scanRows(types []*sql.ColumnType, rows *sql.Rows, do func([]any) error) error {
	values, dest := make([]any, len(types)), make([]any, len(types))
	for i := range values {
		dest[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		for i, v := range values {
			values[i] = typed(simple(v), types[i].DatabaseTypeName())
		}
		if err := do(values); err != nil {
			return err
		}
	}
	return rows.Err()
}

// simple reduces what DuckDB returns to nil, bool, int64, float64, string,
// time.Time, []any and map[string]any.
func simple(v any) any {
	switch x := v.(type) {
	case nil, bool, int64, float64, string, time.Time:
		return v
	case []byte:
		return string(x)
	case *big.Int:
		if x.IsInt64() {
			return x.Int64()
		}
		return x.String()
	case duckdb.Decimal:
		return x.Float64()
	case []any:
		out := make([]any, len(x))
		for i := range x {
			out[i] = simple(x[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(x))
		for k := range x {
			out[k] = simple(x[k])
		}
		return out
	}
	switch r := reflect.ValueOf(v); {
	case r.CanInt():
		return r.Int()
	case r.CanUint() && r.Uint() <= math.MaxInt64:
		return int64(r.Uint())
	case r.CanFloat():
		return r.Float()
	}
	return fmt.Sprint(v)
}

// date and clock are what DuckDB returns as an instant though it is none: a day,
// and a time of some day.
type (
	date  struct{ at time.Time }
	clock struct{ at time.Time }
)

func (d date) String() string  { return d.at.Format(time.DateOnly) }
func (c clock) String() string { return c.at.Format("15:04:05.999999999") }

// typed tells days and times of day from instants by the type of their column. In
// a list or struct whose type speaks of no times, instants can only be days.
func typed(v any, name string) any {
	switch x := v.(type) {
	case time.Time:
		switch {
		case strings.HasPrefix(name, "TIMESTAMP"):
			return x
		case name == "TIME", name == "TIMETZ":
			return clock{x}
		case !strings.Contains(name, "TIME"):
			return date{x}
		}
	case []any:
		for i := range x {
			x[i] = typed(x[i], strings.TrimSuffix(name, "[]"))
		}
	case map[string]any:
		for k := range x {
			x[k] = typed(x[k], name)
		}
	}
	return v
}

// text is a value in words; NULL is "".
func text(v any) string {
	switch x := v.(type) {
	case nil:
		return ""
	case string:
		return x
	case float64:
		return strconv.FormatFloat(x, 'g', -1, 64)
	case time.Time:
		return x.Format(time.RFC3339Nano)
	case date:
		return x.String()
	case clock:
		return x.String()
	case []any, map[string]any:
		var b strings.Builder
		if err := report.WriteJSON(&b, jsonValue(x), false); err != nil {
			return fmt.Sprint(x)
		}
		return strings.TrimSpace(b.String())
	}
	return fmt.Sprint(v)
}

// isList tells lists and arrays, whose type names begin with that of their elements.
func isList(t *sql.ColumnType) bool { return strings.HasSuffix(t.DatabaseTypeName(), "]") }

func isInstant(t *sql.ColumnType) bool {
	return strings.HasPrefix(t.DatabaseTypeName(), "TIMESTAMP") && !isList(t)
}

func isNumber(t *sql.ColumnType) bool {
	name, _, _ := strings.Cut(t.DatabaseTypeName(), "(")
	if isList(t) {
		return false
	}
	return slices.Contains(integerTypes, name) || slices.Contains([]string{"FLOAT", "DOUBLE", "DECIMAL"}, name)
}

var integerTypes = []string{"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"}

// writeTable lays rows out for reading.
func (a *app) writeTable(w io.Writer, f outputFlags, types []*sql.ColumnType, rows *sql.Rows) error {
	theme := term.NewTheme(a.color(f))
	t := term.Table{}
	for _, c := range types {
		name := term.Safe(c.Name())
		t.Columns = append(t.Columns, term.Column{Title: name, Right: isNumber(c), Flex: !isNumber(c), Min: 8})
	}
	total := 0
	err := scanRows(types, rows, func(values []any) error {
		if total++; total > maxTermRows {
			return nil
		}
		row := term.Row{}
		for _, v := range values {
			row.Cells = append(row.Cells, tableCell(v, theme))
		}
		t.Rows = append(t.Rows, row)
		return nil
	})
	if err != nil {
		return err
	}
	lines := t.Render(a.tableWidth(f), theme)
	if !t.Fits(a.tableWidth(f)) {
		lines = records(t, a.tableWidth(f), theme)
	}
	if total > maxTermRows {
		lines = append(lines, fmt.Sprintf("… and %s; use --format csv for all", term.Count(int64(total-maxTermRows), "more row", "more rows")))
	}
	out := strings.Join(lines, "\n") + "\n"
	if !a.utf8(f) {
		out = term.ASCII(out)
	}
	_, err = io.WriteString(w, out)
	return err
}

// records lists every row by itself, one field a line: what is too wide for a table
// stays readable.
func records(t term.Table, width int, theme term.Theme) []string {
	names := 0
	for _, c := range t.Columns {
		names = max(names, term.Width(c.Title))
	}
	names = min(names, width/2)
	var lines []string
	for i, row := range t.Rows {
		lines = append(lines, theme.Strong.Render("row "+term.Exact(int64(i+1))))
		for k, cell := range row.Cells {
			name := theme.Faint.Render(term.CutMiddle(t.Columns[k].Title, names))
			for _, part := range term.Wrap(cell.Text, width-names-4) {
				lines = append(lines, strings.TrimRight("  "+term.Pad(name, names, false)+"  "+cell.Style.Render(part), " "))
				name = ""
			}
		}
	}
	return lines
}

func tableCell(v any, theme term.Theme) term.Cell {
	switch x := v.(type) {
	case nil:
		return term.Cell{Text: term.Unknown, Style: theme.Faint}
	case int64:
		return term.Cell{Text: term.Exact(x)}
	case float64:
		return term.Cell{Text: decimal(x)}
	case time.Time:
		return term.Cell{Text: x.Format("2006-01-02 15:04:05")}
	}
	return term.Cell{Text: term.Fit(text(v), maxTermCell)}
}

// decimal is a number in six digits, without an exponent where people can do without.
func decimal(v float64) string {
	const six, readable = 999_999.5, 1e15
	if size := math.Abs(v); size >= six && size < readable {
		return term.Exact(int64(math.Round(v)))
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

// tableWidth is that of the terminal; into a pipe or file nothing is cut.
func (a *app) tableWidth(f outputFlags) int {
	if f.width == 0 && !a.screen(f) {
		return math.MaxInt32
	}
	return a.columns(f)
}

// isText tells whether the fields of a column may hold any text.
func isText(t *sql.ColumnType) bool {
	name := t.DatabaseTypeName()
	return !isNumber(t) && name != "DATE" && !strings.HasPrefix(name, "TIME")
}

// writeCSV writes rows with a header, as RFC 4180 says: quoted fields keep every
// byte, line breaks and control characters too. Text that a spreadsheet would run
// as a formula gets an apostrophe in front (owasp.org, CSV injection). On a screen
// text is made safe, too. Every row goes out at once, so that a sink that fails is
// noticed.
func writeCSV(w io.Writer, types []*sql.ColumnType, rows *sql.Rows, screen bool) error {
	out := csv.NewWriter(w)
	record := make([]string, len(types))
	for i, c := range types {
		record[i] = csvText(c.Name(), screen)
	}
	if err := out.Write(record); err != nil {
		return err
	}
	err := scanRows(types, rows, func(values []any) error {
		for i, v := range values {
			if record[i] = text(v); isText(types[i]) {
				record[i] = csvText(record[i], screen)
			}
		}
		if err := out.Write(record); err != nil {
			return err
		}
		out.Flush()
		return out.Error()
	})
	if err != nil {
		return err
	}
	out.Flush()
	return out.Error()
}

func csvText(s string, screen bool) string {
	// Spreadsheets of East Asia take the full-width signs for the others.
	if first, _ := utf8.DecodeRuneInString(s); s != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠", first) {
		s = "'" + s
	}
	if screen {
		return term.Safe(s)
	}
	return s
}

// writeJSON writes one array, one row a line. Columns of equal name are told
// apart by a number.
func writeJSON(w io.Writer, types []*sql.ColumnType, rows *sql.Rows) error {
	names := columnNames(types)
	next := "[\n"
	err := scanRows(types, rows, func(values []any) error {
		if _, err := io.WriteString(w, next); err != nil {
			return err
		}
		next = ",\n"
		return writeObject(w, names, values)
	})
	if err != nil {
		return err
	}
	if next == "[\n" {
		_, err = io.WriteString(w, "[]\n")
		return err
	}
	_, err = io.WriteString(w, "\n]\n")
	return err
}

// writeObject writes one row with its columns in order.
func writeObject(w io.Writer, names []string, values []any) error {
	var b strings.Builder
	b.WriteByte('{')
	for i, v := range values {
		if i > 0 {
			b.WriteByte(',')
		}
		for j, part := range []any{names[i], jsonValue(v)} {
			var one strings.Builder
			if err := report.WriteJSON(&one, part, false); err != nil {
				return err
			}
			b.WriteString(strings.TrimSuffix(one.String(), "\n"))
			if j == 0 {
				b.WriteByte(':')
			}
		}
	}
	b.WriteByte('}')
	_, err := io.WriteString(w, b.String())
	return err
}

// jsonValue replaces what JSON has no number for.
func jsonValue(v any) any {
	switch x := v.(type) {
	case float64:
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil
		}
	case date, clock:
		return text(x)
	case []any:
		out := make([]any, len(x))
		for i := range x {
			out[i] = jsonValue(x[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(x))
		for k := range x {
			out[k] = jsonValue(x[k])
		}
		return out
	}
	return v
}

func columnNames(types []*sql.ColumnType) []string {
	names := make([]string, len(types))
	seen := map[string]int{}
	for i, c := range types {
		name := c.Name()
		if seen[name]++; seen[name] > 1 {
			name = fmt.Sprintf("%s_%d", name, seen[name])
		}
		names[i] = name
	}
	return names
}

// writeParquet writes rows as one Parquet file, columns in order, all optional.
// Lists and structs become JSON text.
func writeParquet(w io.Writer, types []*sql.ColumnType, rows *sql.Rows) error {
	fields := make([]reflect.StructField, len(types))
	for i, name := range columnNames(types) {
		fields[i] = reflect.StructField{
			Name: "F" + strconv.Itoa(i),
			Type: parquetType(types[i]),
			Tag:  reflect.StructTag(fmt.Sprintf("parquet:%q", parquetTag(name, types[i]))),
		}
	}
	row := reflect.New(reflect.StructOf(fields)).Elem()
	out := parquet.NewGenericWriter[any](w, parquet.SchemaOf(row.Interface()), parquet.Compression(&parquet.Zstd))
	err := scanRows(types, rows, func(values []any) error {
		for i, v := range values {
			if err := setField(row.Field(i), v); err != nil {
				return fmt.Errorf("column %s: %w", types[i].Name(), err)
			}
		}
		_, err := out.Write([]any{row.Interface()})
		return err
	})
	if err != nil {
		return err
	}
	return out.Close()
}

func parquetType(t *sql.ColumnType) reflect.Type {
	switch name := t.DatabaseTypeName(); {
	case name == "BOOLEAN":
		return reflect.TypeFor[*bool]()
	case slices.Contains(integerTypes, name), isInstant(t):
		return reflect.TypeFor[*int64]()
	case name == "DATE":
		return reflect.TypeFor[*time.Time]()
	case isNumber(t):
		return reflect.TypeFor[*float64]()
	}
	return reflect.TypeFor[*string]()
}

// parquetTag is the column's name, without what a tag gives meaning to.
func parquetTag(name string, t *sql.ColumnType) string {
	tag := strings.NewReplacer(",", "_", "\"", "_").Replace(name) + ",optional"
	switch {
	case isInstant(t):
		tag += ",timestamp(microsecond)"
	case t.DatabaseTypeName() == "DATE":
		tag += ",date"
	}
	return tag
}

func setField(field reflect.Value, v any) error {
	if v == nil {
		field.SetZero()
		return nil
	}
	value := reflect.New(field.Type().Elem())
	switch target := value.Interface().(type) {
	case *bool:
		*target, _ = v.(bool)
	case *float64:
		*target, _ = v.(float64)
	case *time.Time:
		d, ok := v.(date)
		if !ok {
			return fmt.Errorf("%s is no day", text(v))
		}
		*target = d.at
	case *string:
		*target = strings.ToValidUTF8(text(v), "\uFFFD")
	case *int64:
		switch x := v.(type) {
		case int64:
			*target = x
		case time.Time:
			*target = x.UnixMicro()
		default:
			return fmt.Errorf("%s does not fit into 64 bits", text(v))
		}
	}
	field.Set(value)
	return nil
}
