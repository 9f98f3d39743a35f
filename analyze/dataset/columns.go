package dataset

import (
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// Type is the type of a column.
type Type string

// The types of columns. Times are milliseconds in UTC.
const (
	TextType    Type = "text"
	TextsType   Type = "texts" // list of text
	IntegerType Type = "integer"
	NumberType  Type = "number" // floating point
	BoolType    Type = "bool"
	TimeType    Type = "time"
)

// Column is one column of a table, as it stands in the files.
type Column struct {
	Name     string
	Type     Type
	Nullable bool // NULL means unknown
}

// Columns lists the columns that the files of a table hold; nil for an unknown
// table. Beside them stand source and month, which are in the files' paths.
func Columns(name string) []Column {
	tables := append((&Rows{}).tables(), sideTables()...)
	i := slices.IndexFunc(tables, func(t table) bool { return t.name == name })
	if i < 0 {
		return nil
	}
	var out []Column
	for _, f := range tables[i].schema.Fields() {
		out = append(out, Column{Name: f.Name(), Type: typeOf(f), Nullable: f.Optional()})
	}
	return out
}

func typeOf(f parquet.Field) Type {
	if !f.Leaf() {
		return TextsType
	}
	if logical := f.Type().LogicalType(); logical != nil {
		if _, ok := logical.Value.(*format.TimestampType); ok {
			return TimeType
		}
	}
	switch f.Type().Kind() {
	case parquet.Int64:
		return IntegerType
	case parquet.Double:
		return NumberType
	case parquet.Boolean:
		return BoolType
	}
	return TextType
}
