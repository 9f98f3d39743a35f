package report

// document is a report before it is laid out.
type document struct {
	title    string
	subtitle []text
	file     text // the log, where it is only one
	sections []section
}

// section is one question and its answer.
type section struct {
	id    string   // of a section that something else refers to; "" none
	title string   // "" for the head
	prose []string // Markdown paragraphs in fclog's own words, before the table
	lines []text   // plain paragraphs that may hold text from elsewhere
	table *table
	chart *chart
	after []string // Markdown paragraphs after the table
}

// text is a piece of text; log says that it came from a log.
type text struct {
	s      string
	log    bool
	before string // fclog's own signs before it
	after  string // fclog's own words that follow it
}

// table is rows under columns. In Markdown a row's note is a column of its own.
type table struct {
	columns  []column
	rows     []row
	noteHead string // title of the notes' column; "" no row has one
	inline   bool   // notes are short: a column of their own at every width
	more     string // what the table leaves out, in fclog's own words; "" nothing
}

type column struct {
	title    string
	number   bool // aligned right, never cut
	bar      bool // cells draw their share
	flex     bool // cut in the middle where it does not fit
	wrap     bool // runs on below; the last column only
	min      int  // columns a flexible or wrapped column or a bar needs at least
	optional int  // left out on narrow terminals, the highest first; 0 never
}

type row struct {
	cells []cell
	notes []string // in fclog's own words
	faint bool     // an aside: the row that stands for all others
}

type cell struct {
	text
	share *float64 // for bars: 0 to 1 of the whole
}

// chart is a value per request, with what happened there.
type chart struct {
	values []*int64
	marks  [][]string // same length; the events of each
	first  int64      // number of the first value's request
}

func plain(s string) cell   { return cell{text: text{s: s}} }
func logged(s string) cell  { return cell{text: fromLog(s)} }
func bar(v *float64) cell   { return cell{share: v} }
func fromLog(s string) text { return text{s: s, log: true} }
