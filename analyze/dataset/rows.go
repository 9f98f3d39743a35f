package dataset

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fclog/fclog/internal/tokens"
	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/measure"
)

// rowOptions say how the sessions of one file become rows.
type rowOptions struct {
	part   string
	path   string // as given to the reader, as problems name it
	file   string // absolute
	size   int64  // bytes on disk
	text   bool   // false: hashes and counts only
	redact bool   // placeholders stand for secrets
	tokens *tokens.Tokens
}

// newRows measures the sessions of one file and turns them into rows. Rows are
// tied together by session ID, so one that comes twice is a fault of the reader.
func newRows(sessions []*rollout.Session, o rowOptions) (*Rows, error) {
	rows := &Rows{}
	seen := map[string]bool{}
	for _, s := range sessions {
		s.ID = validString(s.ID)
		if seen[s.ID] || s.Source != sessions[0].Source {
			return nil, fmt.Errorf("session %s of %s: a second one, or of another format, in the same file", s.ID, s.Source)
		}
		seen[s.ID] = true
		before := rows.counts()
		rows.addSession(s, measure.Measure(s, o.tokens), o)
		rows.Sessions[len(rows.Sessions)-1].Contents = contents(before, rows.counts())
	}
	if o.redact {
		if err := rows.redact(sessions); err != nil {
			return nil, err
		}
	}
	rows.validStrings()
	return rows, nil
}

// tableRows is how many rows a table has.
type tableRows struct {
	table string
	rows  int
}

// counts are the rows of every table but sessions.
func (rows *Rows) counts() []tableRows {
	return []tableRows{
		{"requests", len(rows.Requests)}, {"items", len(rows.Items)}, {"spans", len(rows.Spans)}, {"calls", len(rows.Calls)}, {"texts", len(rows.Texts)},
		{"other_billed", len(rows.OtherBilled)}, {"reported", len(rows.Reported)}, {"calibration", len(rows.Calibrations)}, {"problems", len(rows.Problems)},
	}
}

// contents notes what a session added to each table, so that a file that went
// missing since is noticed.
func contents(before, after []tableRows) []string {
	var out []string
	for i, t := range after {
		if n := t.rows - before[i].rows; n > 0 {
			out = append(out, fmt.Sprintf("%s=%d", t.table, n))
		}
	}
	return out
}

// rowMaker turns one session into rows.
type rowMaker struct {
	*rollout.Session
	m *measure.Measured
	o rowOptions
}

func (rows *Rows) addSession(s *rollout.Session, m *measure.Measured, o rowOptions) {
	k := rowMaker{s, m, o}
	rows.Sessions = append(rows.Sessions, k.session())
	for i := range s.Requests {
		rows.Requests = append(rows.Requests, k.request(i))
	}
	for i := range s.Items {
		rows.Items = append(rows.Items, k.item(i))
	}
	for i := range s.Spans {
		rows.Spans = append(rows.Spans, k.span(i))
	}
	for i := range s.Calls {
		rows.Calls = append(rows.Calls, k.call(i))
	}
	if o.text {
		rows.Texts = append(rows.Texts, k.texts()...)
	}
	for _, b := range s.OtherBilled {
		rows.OtherBilled = append(rows.OtherBilled, k.otherBilled(b))
	}
	for _, r := range s.Reported {
		rows.Reported = append(rows.Reported, k.reported(r))
	}
	for _, c := range m.Calibration {
		rows.Calibrations = append(rows.Calibrations, k.calibration(c))
	}
	for _, p := range slices.Concat(s.Problems, rollout.Doubts(s)) {
		rows.Problems = append(rows.Problems, k.problem(p))
	}
}

func (k rowMaker) session() Session {
	row := Session{
		Part:            k.o.part,
		SessionID:       k.ID,
		Source:          k.Source,
		AgentVersion:    known(k.AgentVersion),
		Agent:           known(k.Agent),
		ParentSessionID: known(k.ParentID),
		ParentCallID:    known(k.ParentCall),
		ForkedFrom:      known(k.ForkedFrom),
		SpawnedAt:       millis(k.SpawnedAt),
		Models:          modelsOf(k.Requests),
		StartedAt:       millis(k.Started),
		EndedAt:         millis(k.Ended),
		File:            k.filePath(k.o.path),
		FileBytes:       k.o.size,
		Records:         int64(k.Records),
		Missing:         k.Missing,
		FrontMoves:      k.FrontMoves,
		Encoding:        k.m.Encoding,
		PublicEncoding:  k.m.Public,
		HasText:         k.o.text,
		Importer:        Importer,
		FileKey:         known(pathKey(k.o.file)),
	}
	if k.o.text {
		row.CWD = known(k.CWD)
	}
	return row
}

// filePath is how rows name a file: absolute, so that it is found again from any
// folder; without texts only its base name, for folders tell names of projects.
func (k rowMaker) filePath(path string) string {
	switch abs, err := filepath.Abs(path); {
	case !k.o.text:
		path = filepath.Base(path)
	case path == k.o.path:
		path = k.o.file
	case err == nil && path != "":
		path = abs
	}
	return utf8Path(path)
}

// utf8Path writes bytes that are no UTF-8 as \xff: Parquet's strings must be, and
// two paths must not become one.
func utf8Path(path string) string {
	if utf8.ValidString(path) {
		return path
	}
	var out strings.Builder
	for len(path) > 0 {
		r, n := utf8.DecodeRuneInString(path)
		if r == utf8.RuneError && n == 1 {
			fmt.Fprintf(&out, `\x%02x`, path[0])
		} else {
			out.WriteString(path[:n])
		}
		path = path[n:]
	}
	return out.String()
}

// modelsOf lists the models of answered requests, most used first, then by name.
func modelsOf(requests []rollout.Request) []string {
	uses := map[string]int{}
	for _, r := range requests {
		if r.Status == rollout.Answered && r.Model != "" {
			uses[r.Model]++
		}
	}
	names := make([]string, 0, len(uses))
	for name := range uses {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(uses[b]-uses[a], cmp.Compare(a, b)) })
	return names
}

func (k rowMaker) request(i int) Request {
	r, size := k.Requests[i], k.m.Requests[i]
	out := Request{
		Part:               k.o.part,
		SessionID:          k.ID,
		RequestIndex:       int64(i),
		Chain:              int64(r.Chain),
		Request:            int64(r.Number),
		Kind:               string(r.Kind),
		Run:                int64(r.Run),
		Attempt:            int64(r.Attempt),
		Inherited:          r.Inherited,
		BaseRequestIndex:   ref(r.Base),
		ResponseID:         known(r.ID),
		Time:               millis(r.Time),
		DurationMS:         r.DurationMS,
		TTFTMS:             r.TTFTMS,
		Provider:           known(r.Provider),
		Model:              known(r.Model),
		Status:             string(r.Status),
		InputTokens:        r.Usage.Input,
		CacheReadTokens:    r.Usage.CacheRead,
		CacheWriteTokens:   r.Usage.CacheWrite,
		CacheWrite5mTokens: r.Usage.CacheWrite5m,
		CacheWrite1hTokens: r.Usage.CacheWrite1h,
		OutputTokens:       r.Usage.Output,
		ReasoningTokens:    r.Usage.Reasoning,
		OutputFinal:        r.OutputFinal,
		Subscription:       r.Subscription,
		LoggedUSD:          r.LoggedUSD,
		Messages:           r.Messages,
		PromptChars:        r.PromptChars,
		CountedTokens:      size.Counted,
		CalibratedTokens:   size.Calibrated,
		FramingTokens:      size.Framing,
		UnloggedTokens:     size.Unlogged,
		Line:               int64(r.Line),
	}
	if c := size.Constant; c != nil {
		out.ConstantTokens, out.ConstantLow, out.ConstantHigh, out.ConstantMethod = &c.Tokens, &c.Low, &c.High, known(string(c.Method))
	}
	return out
}

func (k rowMaker) item(i int) Item {
	it, size := k.Items[i], k.m.Items[i]
	text := k.Texts[it.Text]
	return Item{
		Part:         k.o.part,
		SessionID:    k.ID,
		Item:         int64(i),
		Kind:         string(it.Kind),
		Role:         known(string(it.Role)),
		Tool:         known(it.Tool),
		CallID:       known(it.CallID),
		Label:        known(it.Label),
		Origin:       string(it.Origin),
		RequestIndex: ref(it.Request),
		TextHash:     hashOf(text),
		Chars:        int64(text.Chars),
		Bytes:        int64(text.Bytes),
		Tokens:       size.Tokens,
		PrefixTokens: size.PrefixTokens,
		PrefixLines:  size.PrefixLines,
		Sized:        it.Tokens != nil,
	}
}

func (k rowMaker) span(i int) Span {
	sp, size := k.Spans[i], k.m.Spans[i]
	text := k.Texts[sp.Text]
	return Span{
		Part:         k.o.part,
		SessionID:    k.ID,
		Item:         int64(sp.Item),
		Span:         int64(i),
		Chain:        int64(sp.Chain),
		FirstRequest: int64(sp.First),
		LastRequest:  int64(sp.Last),
		Requests:     size.Requests,
		Position:     sp.Position,
		TextHash:     hashOf(text),
		Chars:        int64(text.Chars),
		Bytes:        int64(text.Bytes),
		Tokens:       size.Tokens,
		PrefixTokens: size.PrefixTokens,
		Sized:        sp.Tokens != nil,
	}
}

func (k rowMaker) call(i int) Call {
	c, facts := k.Calls[i], k.m.Calls[i]
	row := Call{
		Part:           k.o.part,
		SessionID:      k.ID,
		Call:           int64(i),
		RequestIndex:   ref(c.Request),
		CallID:         c.ID,
		Tool:           c.Tool,
		Class:          string(c.Class),
		ArgsHash:       facts.ArgsHash,
		ArgsKey:        facts.ArgsKey,
		OutputKind:     known(string(facts.OutputKind)),
		ReadOnly:       c.ReadOnly,
		Mutates:        c.Mutates,
		Ran:            c.Ran,
		Denied:         c.Denied,
		Failed:         c.Failed,
		Inherited:      c.Inherited,
		Time:           millis(c.Time),
		DurationMS:     c.DurationMS,
		ArgsItem:       ref(c.ArgsItem),
		ResultItem:     ref(c.ResultItem),
		BatchSize:      facts.BatchSize,
		RepeatOf:       ref(facts.RepeatOf),
		StrictRepeatOf: ref(facts.StrictRepeatOf),
		StartsTask:     c.Starts,
		Poll:           known(string(c.Poll)),
		Truncated:      known(string(c.Truncated)),
		ChildSession:   known(c.Child),
		ParentCallID:   known(c.Parent),
		Line:           int64(c.Line),
	}
	if c.Full != nil {
		full := k.Texts[*c.Full]
		chars := int64(full.Chars)
		row.FullHash, row.FullChars = known(hashOf(full)), &chars
	}
	if k.o.text {
		row.Args = known(k.Texts[c.Args].S)
		row.Command, row.Path, row.Range = known(c.Command), known(c.Path), known(c.Range)
		row.Task, row.Handle, row.Recovers = known(c.Task), known(c.Handle), known(c.Recovers)
	}
	return row
}

// texts lists the texts with words; opaque data has only its hash.
func (k rowMaker) texts() []Text {
	var out []Text
	for _, t := range k.Texts {
		if !t.Opaque {
			out = append(out, Text{Part: k.o.part, SessionID: k.ID, TextHash: hashOf(t), Text: t.S})
		}
	}
	return out
}

func (k rowMaker) otherBilled(b rollout.OtherBilled) OtherBilled {
	return OtherBilled{
		Part:             k.o.part,
		SessionID:        k.ID,
		Kind:             b.Kind,
		Time:             millis(b.Time),
		Provider:         known(b.Provider),
		Model:            known(b.Model),
		InputTokens:      b.Usage.Input,
		CacheReadTokens:  b.Usage.CacheRead,
		CacheWriteTokens: b.Usage.CacheWrite,
		OutputTokens:     b.Usage.Output,
		Estimate:         b.Estimate,
		Line:             int64(b.Line),
	}
}

func (k rowMaker) reported(r rollout.Reported) Reported {
	return Reported{
		Part:               k.o.part,
		SessionID:          k.ID,
		Model:              known(r.Model),
		Requests:           r.Requests,
		InputTokens:        r.Usage.Input,
		CacheReadTokens:    r.Usage.CacheRead,
		CacheWriteTokens:   r.Usage.CacheWrite,
		CacheWrite5mTokens: r.Usage.CacheWrite5m,
		CacheWrite1hTokens: r.Usage.CacheWrite1h,
		OutputTokens:       r.Usage.Output,
		ReasoningTokens:    r.Usage.Reasoning,
		CostUSD:            r.CostUSD,
		Line:               int64(r.Line),
	}
}

func (k rowMaker) calibration(c measure.Calibration) Calibration {
	return Calibration{
		Part:              k.o.part,
		SessionID:         k.ID,
		Model:             known(c.Model),
		Kind:              known(string(c.Kind)),
		Fit:               string(c.Fit),
		Factor:            c.Factor,
		FactorLow:         c.FactorLow,
		FactorHigh:        c.FactorHigh,
		FramingPerMessage: c.FramingPerMessage,
		Pairs:             int64(c.Pairs),
		Method:            string(c.Method),
	}
}

func (k rowMaker) problem(p rollout.Problem) Problem {
	return Problem{
		Part:      k.o.part,
		SessionID: k.ID,
		File:      k.filePath(p.File),
		Line:      int64(p.Line),
		Kind:      p.Kind,
		Detail:    p.Detail,
		Count:     int64(max(p.Count, 1)),
	}
}

func hashOf(t rollout.Text) string { return hex.EncodeToString(t.Hash[:]) }

// ref turns an index into a number, NULL where it refers to nothing.
func ref(i int) *int64 {
	if i < 0 {
		return nil
	}
	n := int64(i)
	return &n
}

// known turns what a log says into a value, NULL where it says nothing.
func known(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// millis is a time in Unix milliseconds, NULL where it is unknown.
func millis(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	n := t.UnixMilli()
	return &n
}
