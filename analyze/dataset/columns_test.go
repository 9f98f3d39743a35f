package dataset

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestColumns(t *testing.T) {
	types := map[string]Column{}
	for _, c := range Columns("sessions") {
		types[c.Name] = c
	}
	assert.Len(t, types, 26)
	assert.Equal(t, Column{Name: "part", Type: TextType}, types["part"])
	assert.Equal(t, Column{Name: "agent", Type: TextType, Nullable: true}, types["agent"])
	assert.Equal(t, Column{Name: "started_at", Type: TimeType, Nullable: true}, types["started_at"])
	assert.Equal(t, Column{Name: "models", Type: TextsType}, types["models"])
	assert.Equal(t, Column{Name: "records", Type: IntegerType}, types["records"])
	assert.Equal(t, Column{Name: "has_text", Type: BoolType}, types["has_text"])
	assert.Equal(t, Column{Name: "superseded", Type: BoolType, Nullable: true}, types["superseded"])
	for _, table := range Tables() {
		assert.Equal(t, "part", Columns(table)[0].Name, table)
	}
	for _, table := range SideTables() {
		assert.NotEmpty(t, Columns(table), table)
	}
	assert.Equal(t, NumberType, Columns("calibration")[5].Type, "factor")
	for _, c := range Columns(EstimatesTable) {
		types[c.Name] = c
	}
	assert.Equal(t, Column{Name: "static_saving_usd", Type: MoneyType, Nullable: true}, types["static_saving_usd"])
	assert.Equal(t, RecordsType, types["observed_outputs"].Type)
	assert.Equal(t, []Column{{Name: "agent", Type: TextType}, {Name: "kind", Type: TextType}, {Name: "band", Type: TextType}, {Name: "marker", Type: TextType},
		{Name: "cases", Type: IntegerType}, {Name: "recoveries", Type: IntegerType}}, types["observed_outputs"].Fields)
	assert.Empty(t, Columns("no-such-table"))
}
