package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// EstimatesTable and OutcomesTable stand beside the tables of parts: what was
// worked out from the dataset, and what became of it. A dataset is whole without
// them, imports leave them alone, and a merge puts estimates into fewer files.
const (
	EstimatesTable = "estimates"
	OutcomesTable  = "outcomes"
)

// USD is an amount of money in billionths of a dollar: sums of it are exact,
// whatever their order.
type USD = int64

// Estimate is one row of estimates: one session replayed under one variant, by
// itself. Tokens are the provider's unless noted. Nil is NULL: unknown. The row
// holds what is needed to add sessions up: sums over rows are the figures of the
// whole, whoever worked the rows out.
type Estimate struct {
	Part       string  `parquet:"part,dict"`
	SessionID  string  `parquet:"session_id,dict"`
	Variant    string  `parquet:"variant,dict"`
	Options    string  `parquet:"options,dict"`              // canonical JSON: every step of the variant with all its settings
	Rules      string  `parquet:"rules,dict"`                // version of the rules behind the figures
	Prices     string  `parquet:"prices,dict"`               // hash of the price book
	PricesDate *string `parquet:"prices_date,optional,dict"` // newest date in the price book, YYYY-MM-DD
	Task       *string `parquet:"task,optional"`             // hash of what the user asked for; NULL not known, or a sub-agent

	RecordedRequests      int64  `parquet:"recorded_requests"`
	RecordedInputTokens   *int64 `parquet:"recorded_input_tokens,optional"`
	RecordedOutputTokens  *int64 `parquet:"recorded_output_tokens,optional"`
	RecordedCacheRead     *int64 `parquet:"recorded_cache_read_tokens,optional"`
	RecordedCacheWrite    *int64 `parquet:"recorded_cache_write_tokens,optional"`
	RecordedUSD           *USD   `parquet:"recorded_usd,optional,decimal(9:18)"`
	RecordedCountedTokens int64  `parquet:"recorded_counted_tokens"` // raw
	UnpricedRequests      bool   `parquet:"unpriced_requests"`       // some requests have no known price: USD figures cover the others

	Requests         int64  `parquet:"requests"` // under the variant, at the low end of its range
	InputTokens      *int64 `parquet:"input_tokens,optional"`
	CacheReadTokens  *int64 `parquet:"cache_read_tokens,optional"`
	CacheWriteTokens *int64 `parquet:"cache_write_tokens,optional"`
	OutputTokens     *int64 `parquet:"output_tokens,optional"`
	CostUSD          *USD   `parquet:"usd,optional,decimal(9:18)"`

	StaticSavingTokens       *int64 `parquet:"static_saving_tokens,optional"` // input
	StaticSavingTokensHigh   *int64 `parquet:"static_saving_tokens_high,optional"`
	StaticSavingSpreadLow    *int64 `parquet:"static_saving_spread_low,optional"` // with calibration factors at their lower quartile
	StaticSavingSpreadHigh   *int64 `parquet:"static_saving_spread_high,optional"`
	StaticSavingOutputTokens *int64 `parquet:"static_saving_output_tokens,optional"`
	StaticSavingUSD          *USD   `parquet:"static_saving_usd,optional,decimal(9:18)"` // negative: dearer
	StaticSavingUSDHigh      *USD   `parquet:"static_saving_usd_high,optional,decimal(9:18)"`
	SavedCountedTokens       int64  `parquet:"saved_counted_tokens"` // raw, also without usage
	CacheReadLost            *int64 `parquet:"cache_read_lost,optional"`
	ClampedRequests          int64  `parquet:"clamped_requests"`
	LaterCompactions         int64  `parquet:"later_compactions"` // recorded compactions that would have come later or not at all

	EditedItems         int64 `parquet:"edited_items"`
	RemovedRequestsLow  int64 `parquet:"removed_requests_low"`
	RemovedRequestsHigh int64 `parquet:"removed_requests_high"`
	AddedRequests       int64 `parquet:"added_requests"`

	ExtraKnown  int64 `parquet:"extra_known"`                      // places with usage where a detour could come in
	ExtraTokens int64 `parquet:"extra_tokens"`                     // what one more request at each of them would cost together
	ExtraUSD    *USD  `parquet:"extra_usd,optional,decimal(9:18)"` // NULL: a price is unknown

	LossyItems      int64        `parquet:"lossy_items"` // items of which the model could miss what was cut
	LaterUsed       int64        `parquet:"later_used"`  // of them, whose cut text turns up later in this log
	NullMatches     int64        `parquet:"null_matches"`
	Detours         *float64     `parquet:"detours_expected,optional"` // extra requests by the orientation figures, of this session alone; NULL no lossy item
	DetoursLow      *float64     `parquet:"detours_low,optional"`
	DetoursHigh     *float64     `parquet:"detours_high,optional"`
	DetourStrata    []LossyCount `parquet:"detour_strata,list"`    // lossy items by what they are most like: base rates of any set of sessions apply to sums of these
	ObservedOutputs []SeenCount  `parquet:"observed_outputs,list"` // outputs of this session and how many were gone back to: what base rates are fitted on

	AsksModel   bool    `parquet:"asks_model"` // no rule of the harness brings it about
	Basis       string  `parquet:"basis,dict"` // counted, calibrated or estimated: the weakest that any request rests on
	Unsupported *string `parquet:"unsupported,optional"`
}

// LossyCount counts items that a variant cuts, by the stratum of base rates they
// belong to. "" means all of them.
type LossyCount struct {
	Agent  string `parquet:"agent"`
	Kind   string `parquet:"kind"`
	Band   string `parquet:"band"`
	Marker string `parquet:"marker"`
	Items  int64  `parquet:"items"`
	Used   int64  `parquet:"used"`  // what was cut turned up later
	Null   int64  `parquet:"nulls"` // the same match by chance
}

// SeenCount counts outputs that stood in a log. Marker "" is whole outputs.
type SeenCount struct {
	Agent      string `parquet:"agent"`
	Kind       string `parquet:"kind"`
	Band       string `parquet:"band"`
	Marker     string `parquet:"marker"`
	Cases      int64  `parquet:"cases"`
	Recoveries int64  `parquet:"recoveries"`
}

// sideTables are the tables that belong to no part's commit.
func sideTables() []table {
	return []table{
		newTable(EstimatesTable, []Estimate{}, func(x *Estimate) string { return x.Part }),
		newTable(OutcomesTable, []Outcome{}, func(*Outcome) string { return "" }),
	}
}

// SideTables lists the names of the tables that need not be there.
func SideTables() []string { return []string{EstimatesTable, OutcomesTable} }

func isSide(table string) bool { return slices.Contains(SideTables(), table) }

// WriteEstimates puts rows of one source and month into one file below dir, which
// is a dataset or a folder of its own. The file is named by what its rows are about,
// its bytes depend on the rows alone, and it appears whole or not at all; so any
// number of processes may write at once, and the same work twice leaves one file.
func WriteEstimates(dir, source, month string, rows []Estimate) error {
	if len(rows) == 0 {
		return nil
	}
	rows = slices.Clone(rows)
	slices.SortFunc(rows, byKey)
	t := newTable(EstimatesTable, rows, func(x *Estimate) string { return x.Part })
	return writeSide(dir, t, place{source: source, month: month, stem: estimatesStem(rows)})
}

// estimatesStem names the file of rows, which are in order, by what they are about.
func estimatesStem(rows []Estimate) string {
	sum := sha256.New()
	for i := range rows {
		for _, word := range rows[i].key() {
			fmt.Fprintf(sum, "%d:%s", len(word), word)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// key is what a row is about; the other columns follow from it.
func (e *Estimate) key() []string {
	return []string{e.Part, e.SessionID, e.Variant, e.Options, e.Rules, e.Prices}
}

// asideSuffix ends the name of a file of a side table that is being written. It
// begins with a dot, so that no pattern of readers matches it.
const asideSuffix = ".tmp"

// writeSide writes one file of a side table: aside first, in the same folder.
func writeSide(dir string, t table, p place) error {
	path := sidePath(dir, t.name, p)
	folder := filepath.Dir(path)
	if err := makePlain(dir, t.name, "source="+p.source, "month="+p.month); err != nil {
		return &WriteError{err}
	}
	in, err := openInside(dir)
	if err != nil {
		return &WriteError{err}
	}
	defer in.root.Close()
	f, aside, err := in.newFile(folder, "."+p.stem+"-", asideSuffix)
	if err != nil {
		return &WriteError{err}
	}
	err = t.write(func(string) (io.WriteCloser, error) { return f, nil }, aside)
	if err == nil {
		err = in.sync(aside)
	}
	if err == nil {
		err = in.move(aside, path)
	}
	if err != nil {
		in.remove(aside)
		return &WriteError{err}
	}
	return nil
}

func sidePath(dir, table string, p place) string {
	return filepath.Join(dir, table, "source="+p.source, "month="+p.month, p.stem+".parquet")
}

// leftAside tells the files of killed writers of side tables.
func leftAside(name string) bool {
	return strings.HasPrefix(name, ".") && strings.HasSuffix(name, asideSuffix)
}

// SessionRows is how many rows the sessions files of the dataset in dir have, told
// from their ends alone: about as many sessions, copies included. It stops counting
// beyond most. What cannot be read counts for nothing here; readers say what is wrong.
func SessionRows(dir string, most int64) int64 {
	s := &store{inside: inside{dir: dir}}
	places, err := s.files("sessions")
	if err != nil {
		return 0
	}
	var n int64
	for _, p := range places {
		if n > most {
			break
		}
		if rows, err := rowsIn(s.path("sessions", p)); err == nil {
			n += rows
		}
	}
	return n
}

// rowsIn is how many rows a file has, as its end says.
func rowsIn(path string) (int64, error) {
	file, err := openPlain(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	f, err := openParquet(file, info.Size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return 0, err
	}
	return f.NumRows(), nil
}
