package analyze

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/fclog/fclog/analyze/dataset"
)

// allSQL holds the SQL for DuckDB, and in sql/clickhouse what stands in for the file
// of the same path where ClickHouse's differs.
//
//go:embed sql
var allSQL embed.FS

// ClickHouseTables writes the statements that make the tables of a dataset, and the
// views that the shipped questions share, in ClickHouse: over all of its sessions,
// with the prices given. at is the dataset as ClickHouse finds it, a folder or the
// address of one in an object store; an error, where ClickHouse would take it for a
// pattern or it holds a password, which has no place in SQL that is handed on.
func ClickHouseTables(at string, prices []Price) (string, error) {
	if u, err := url.Parse(at); InObjectStore(at) && (err != nil || u.User != nil || u.RawQuery != "" || u.Host == "") {
		return "", errors.New("the address of an object store must read https://HOST/BUCKET/DATASET or s3://BUCKET/DATASET, without user, password or parameters: ClickHouse takes keys from its own settings or from the environment, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	}
	if strings.ContainsAny(at, "*?{}") {
		return "", fmt.Errorf("path %s: ClickHouse takes * ? { } for a pattern: give the dataset another name", at)
	}
	var out strings.Builder
	settings, err := clickHouseText("settings.sql")
	if err != nil {
		return "", err
	}
	out.WriteString(settings)
	for _, table := range append(dataset.Tables(), dataset.SideTables()...) {
		out.WriteString(clickHouseRaw(at, table))
	}
	out.WriteString(clickHousePrices(prices))
	for _, folder := range []string{"views", "side", "shared"} {
		if err := clickHouseFolder(&out, folder); err != nil {
			return "", err
		}
	}
	return out.String(), nil
}

// clickHouseFolder writes the files of a folder in the order of their names. What
// many questions share is worked out once, as fill does for DuckDB.
func clickHouseFolder(out *strings.Builder, folder string) error {
	names, err := clickHouseNames(folder)
	if err != nil {
		return err
	}
	for _, name := range names {
		text, err := clickHouseText(folder + "/" + name)
		if err != nil {
			return err
		}
		if folder == "shared" {
			text = asTables(text)
		}
		fmt.Fprintf(out, "\n-- %s/%s\n%s", folder, name, text)
	}
	return nil
}

// ClickHouseQuestion is a shipped question in ClickHouse's SQL, to be run after
// ClickHouseTables, with its parameters set.
func ClickHouseQuestion(name string, p Params) (string, error) {
	q, err := FindQuestion(name)
	if err != nil {
		return "", err
	}
	text, err := clickHouseText(name + ".sql")
	if err != nil {
		return "", err
	}
	q = parseQuestion(name, text)
	var out strings.Builder
	for _, parameter := range q.Params {
		kind, value, err := p.clickHouse(parameter)
		if err != nil {
			return "", fmt.Errorf("question %s: %w", name, err)
		}
		fmt.Fprintf(&out, "SET param_%s = %s;\n", parameter, quoteClickHouse(value))
		q.SQL = strings.ReplaceAll(q.SQL, "$"+parameter, fmt.Sprintf("{%s:%s}", parameter, kind))
	}
	return out.String() + q.SQL + ";\n", nil
}

// clickHouse is the type and the value of a parameter.
func (p Params) clickHouse(name string) (kind, value string, err error) {
	switch name {
	case "tz":
		if p.TZ == "" {
			return "String", "UTC", nil
		}
		return "String", p.TZ, nil
	case "limit":
		if p.Limit == 0 {
			return "Int64", "20", nil
		}
		return "Int64", strconv.Itoa(p.Limit), nil
	case "session":
		if p.Session == "" {
			return "Nullable(String)", `\N`, nil
		}
		return "Nullable(String)", p.Session, nil
	}
	return "", "", fmt.Errorf("unknown parameter $%s", name)
}

// clickHouseNames lists the files of a folder, both engines' and ClickHouse's own.
func clickHouseNames(folder string) ([]string, error) {
	var names []string
	for _, root := range []string{"sql/", "sql/clickhouse/"} {
		paths, err := fs.Glob(allSQL, root+folder+"/*.sql")
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			names = append(names, path[strings.LastIndex(path, "/")+1:])
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// clickHouseText is the file of that path under sql/, or the one that stands in for
// it.
func clickHouseText(path string) (string, error) {
	text, err := allSQL.ReadFile("sql/clickhouse/" + path)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = allSQL.ReadFile("sql/" + path)
	}
	return string(text), err
}

// clickHouseTypes are the types of columns. All but lists are nullable, even where
// the files never hold NULL: lag and its like give 0 for a missing row otherwise.
var clickHouseTypes = map[dataset.Type]string{
	dataset.TextType: "Nullable(String)", dataset.TextsType: "Array(String)", dataset.IntegerType: "Nullable(Int64)",
	dataset.NumberType: "Nullable(Float64)", dataset.BoolType: "Nullable(Bool)", dataset.TimeType: "Nullable(DateTime64(3, 'UTC'))",
	dataset.MoneyType: "Nullable(Decimal(18, 9))",
}

func clickHouseType(c dataset.Column) string {
	if c.Type != dataset.RecordsType {
		return clickHouseTypes[c.Type]
	}
	var fields []string
	for _, f := range c.Fields {
		fields = append(fields, quoteName(f.Name)+" "+clickHouseType(f))
	}
	return "Array(Tuple(" + strings.Join(fields, ", ") + "))"
}

// InObjectStore tells the address of a dataset in an object store from a folder.
func InObjectStore(at string) bool {
	return slices.ContainsFunc([]string{"http://", "https://", "s3://"}, func(scheme string) bool { return strings.HasPrefix(at, scheme) })
}

// clickHouseFiles is the function that reads all files of a table.
func clickHouseFiles(at, table, structure string) string {
	function := "file"
	if InObjectStore(at) {
		function = "s3"
	}
	return fmt.Sprintf("%s(%s, Parquet, %s)", function, quoteClickHouse(strings.TrimSuffix(at, "/")+"/"+table+"/*/*/*.parquet"), quoteClickHouse(structure))
}

// clickHouseRaw makes the files of a table readable as raw_TABLE, as rawView does.
// Columns that older files lack are NULL.
func clickHouseRaw(at, table string) string {
	columns := dataset.Columns(table)
	for _, partition := range []string{"source", "month"} {
		if !slices.ContainsFunc(columns, func(c dataset.Column) bool { return c.Name == partition }) {
			columns = append(columns, dataset.Column{Name: partition, Type: dataset.TextType})
		}
	}
	var names, structure []string
	for _, c := range columns {
		names = append(names, quoteName(c.Name))
		structure = append(structure, quoteName(c.Name)+" "+clickHouseType(c))
	}
	return fmt.Sprintf(`CREATE VIEW raw_%s AS
SELECT %s, replaceRegexpOne(_file, '[.]parquet$', '') AS stem
FROM %s;
`, table, strings.Join(names, ", "), clickHouseFiles(at, table, strings.Join(structure, ", ")))
}

func clickHousePrices(prices []Price) string {
	var out strings.Builder
	out.WriteString(`CREATE TABLE prices (
  provider Nullable(String), model Nullable(String), input Nullable(Float64), cache_read Nullable(Float64), cache_write_5m Nullable(Float64),
  cache_write_1h Nullable(Float64), output Nullable(Float64), long_above Nullable(Int64), long_input Nullable(Float64), long_cache_read Nullable(Float64),
  long_cache_write_5m Nullable(Float64), long_cache_write_1h Nullable(Float64), long_output Nullable(Float64), date Nullable(String), file Nullable(String));
`)
	if len(prices) == 0 {
		return out.String()
	}
	out.WriteString("INSERT INTO prices SELECT * FROM values(\n")
	for i, p := range prices {
		if i > 0 {
			out.WriteString(",\n")
		}
		out.WriteString("(" + strings.Join(clickHousePrice(p), ", ") + ")")
	}
	out.WriteString(");\n")
	return out.String()
}

func clickHousePrice(p Price) []string {
	row := []string{textOrNull(p.Provider), textOrNull(p.Model)}
	for _, v := range []*float64{p.Input, p.CacheRead, p.CacheWrite5m, p.CacheWrite1h, p.Output} {
		row = append(row, numberOrNull(v))
	}
	row = append(row, numberOrNull(p.LongAbove))
	for _, v := range []*float64{p.Long.Input, p.Long.CacheRead, p.Long.CacheWrite5m, p.Long.CacheWrite1h, p.Long.Output} {
		row = append(row, numberOrNull(v))
	}
	return append(row, textOrNull(p.Date), textOrNull(p.File))
}

func textOrNull(s string) string {
	if s == "" {
		return "NULL"
	}
	return quoteClickHouse(s)
}

func numberOrNull[T int64 | float64](v *T) string {
	if v == nil {
		return "NULL"
	}
	return fmt.Sprint(*v)
}

// quoteClickHouse writes a string as a literal; ClickHouse knows escapes in them.
func quoteClickHouse(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}

func quoteName(s string) string { return `"` + s + `"` }
