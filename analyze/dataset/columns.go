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
	MoneyType   Type = "money"   // dollars, with nine places behind the point
	RecordsType Type = "records" // list of records, which have Fields
)

// Column is one column of a table, as it stands in the files.
type Column struct {
	Name     string
	Type     Type
	Nullable bool     // NULL means unknown
	Fields   []Column // of a record in a list
}

// Columns lists the columns that the files of a table hold; nil for an unknown
// table. Beside them stand source and month, which are in the files' paths.
func Columns(name string) []Column {
	tables := append((&Rows{}).tables(), sideTables()...)
	i := slices.IndexFunc(tables, func(t table) bool { return t.name == name })
	if i < 0 {
		return nil
	}
	return described(tables[i].schema.Fields())
}

func described(fields []parquet.Field) []Column {
	var out []Column
	for _, f := range fields {
		c := Column{Name: f.Name(), Type: typeOf(f), Nullable: f.Optional()}
		if c.Type == RecordsType {
			c.Fields = described(element(f).Fields())
		}
		out = append(out, c)
	}
	return out
}

// element is what a list holds.
func element(list parquet.Field) parquet.Field { return list.Fields()[0].Fields()[0] }

func typeOf(f parquet.Field) Type {
	switch {
	case !f.Leaf() && element(f).Leaf():
		return TextsType
	case !f.Leaf():
		return RecordsType
	}
	if logical := f.Type().LogicalType(); logical != nil {
		switch logical.Value.(type) {
		case *format.TimestampType:
			return TimeType
		case *format.DecimalType:
			return MoneyType
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
