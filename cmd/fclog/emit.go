package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fclog/fclog/internal/report"
	"github.com/fclog/fclog/replay"
)

// changes lists what a use changes in the texts of all recordings, what saves most
// first.
func changes(ctx context.Context, engine *replay.Engine, recs []replay.Recording, use replay.Use) ([]report.TextChange, error) {
	var out []report.TextChange
	for _, rec := range recs {
		plan := engine.Plan(ctx, rec, use)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		first := len(out)
		for i, e := range plan.Edits {
			out = append(out, changeOf(rec, plan, i, e))
		}
		out = append(out[:first], joined(out[first:])...)
		for _, x := range plan.Additions {
			out = append(out, report.TextChange{
				SessionID: rec.Session.ID, Item: -1, Span: -1, Chain: x.Chain, From: x.First, Last: x.Last,
				Why: x.Why, After: x.Text, Added: true,
			})
		}
	}
	slices.SortStableFunc(out, func(x, y report.TextChange) int { return cmp.Compare(weight(y), weight(x)) })
	return out, nil
}

// joined makes one change of those that go on unchanged in the next span of an item:
// a chain was resumed, or its parts were put in another order.
func joined(list []report.TextChange) []report.TextChange {
	type key struct{ item, chain, from int }
	at := map[key]int{}
	var out []report.TextChange
	slices.SortStableFunc(list, func(x, y report.TextChange) int { return cmp.Compare(x.From, y.From) })
	for _, c := range list {
		if i, ok := at[key{c.Item, c.Chain, c.From}]; ok && out[i].Before == c.Before && out[i].After == c.After && out[i].Why == c.Why && out[i].Dropped == c.Dropped {
			out[i].Last = c.Last
			at[key{c.Item, c.Chain, c.Last + 1}] = i
			continue
		}
		at[key{c.Item, c.Chain, c.Last + 1}] = len(out)
		out = append(out, c)
	}
	return out
}

// weight is how much text a change takes out or puts in, over all requests.
func weight(c report.TextChange) int {
	n := (len(c.Before) - len(c.After)) * (c.Last - c.From + 1)
	return max(n, -n)
}

func changeOf(rec replay.Recording, plan replay.Plan, i int, e replay.Edit) report.TextChange {
	s := rec.Session
	sp := s.Spans[e.Span]
	c := report.TextChange{
		SessionID: s.ID, Item: sp.Item, Span: e.Span, Chain: sp.Chain, From: e.From, Last: sp.Last,
		Tool: s.Items[sp.Item].Tool, Why: e.Why, Lossy: e.Lossy, Dropped: e.Drop,
		Before: s.Texts[sp.Text].S, After: e.Text,
	}
	if i+1 < len(plan.Edits) && plan.Edits[i+1].Span == e.Span {
		c.Last = plan.Edits[i+1].From - 1
	}
	if e.Call >= 0 && e.Call < len(s.Calls) {
		call := s.Calls[e.Call]
		c.CallID, c.What = call.ID, cmp.Or(call.Path, call.Command, s.Texts[call.Args].S)
		c.Tool = call.Tool
	}
	return c
}

// checkEmit refuses a folder that holds something: nothing is ever overwritten.
func checkEmit(dir string) error {
	if dir == "" {
		return nil
	}
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("--emit: %w", err)
	case len(entries) > 0:
		return fmt.Errorf("--emit: %s is not empty; name a new folder", dir)
	}
	return nil
}

// emitted is one row of the index.
type emitted struct {
	Variant   string  `json:"variant"`
	SessionID string  `json:"session_id"`
	Item      *int    `json:"item"` // null: added text
	Chain     int     `json:"chain"`
	First     int     `json:"first_request"` // requests of the chain that would have carried it
	Last      int     `json:"last_request"`
	CallID    string  `json:"call_id"`
	Tool      string  `json:"tool"`
	Why       string  `json:"why"`
	Lossy     bool    `json:"lossy"`
	File      *string `json:"file"` // below the folder; null: dropped, nothing would have been sent
	SHA256    *string `json:"sha256"`
}

// emit writes every new text to a file of its own and an index of them. File names
// hold numbers and fclog's own words only. All of it is put together in a folder of
// its own inside and moved up at the end, the index last: what is stopped or fails
// leaves nothing half-written.
func emit(ctx context.Context, dir string, shown *report.Replay) (err error) {
	made := false
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		made = true
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	stage, err := os.MkdirTemp(dir, ".fclog-")
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, os.RemoveAll(stage))
		if err != nil && made {
			os.Remove(dir) // stays if it holds something
		}
	}()
	index, folders, err := emitTexts(ctx, stage, shown)
	if err != nil {
		return err
	}
	if err := create(filepath.Join(stage, indexFile), func(w io.Writer) error { return report.WriteJSON(w, index, true) }); err != nil {
		return err
	}
	for _, name := range append(folders, indexFile) {
		if err := os.Rename(filepath.Join(stage, name), filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

const indexFile = "index.json"

// emitTexts writes the texts and returns their index and the folders they are in.
func emitTexts(ctx context.Context, dir string, shown *report.Replay) (index []emitted, folders []string, err error) {
	sessions := map[string]int{}
	for i, s := range shown.Report.Sessions {
		sessions[s.SessionID] = i + 1
	}
	index = []emitted{}
	for i, v := range shown.Variants {
		folder, stored := fmt.Sprintf("%02d-%s", i+1, safeName(shown.Report.Variants[i].Variant)), false
		for n, c := range v.Changes {
			if err := ctx.Err(); err != nil {
				return nil, nil, err
			}
			row := emitted{
				Variant: shown.Report.Variants[i].Variant, SessionID: c.SessionID, Chain: c.Chain, First: c.From, Last: c.Last,
				CallID: c.CallID, Tool: c.Tool, Why: c.Why, Lossy: c.Lossy,
			}
			if !c.Added {
				row.Item = &c.Item
			}
			if !c.Dropped {
				stored = true
				if err := row.store(dir, folder, fileName(sessions[c.SessionID], n, c), c.After); err != nil {
					return nil, nil, err
				}
			}
			index = append(index, row)
		}
		if stored {
			folders = append(folders, folder)
		}
	}
	return index, folders, nil
}

func (e *emitted) store(dir, folder, name, text string) error {
	if err := os.MkdirAll(filepath.Join(dir, folder), 0o700); err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(text))
	hash, file := hex.EncodeToString(sum[:]), folder+"/"+name
	e.SHA256, e.File = &hash, &file
	return create(filepath.Join(dir, folder, name), func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

func fileName(session, n int, c report.TextChange) string {
	if c.Added {
		return fmt.Sprintf("session%d-added%d-from%d.txt", session, n, c.From)
	}
	return fmt.Sprintf("session%d-item%d-span%d-from%d.txt", session, c.Item, c.Span, c.From)
}

// safeName keeps letters, digits and few signs of what the user called a variant.
func safeName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '_'
	}, name)
	return name[:min(len(name), 40)]
}

// create writes a file that only its owner may read: it holds text of logs.
func create(path string, do func(io.Writer) error) (err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer closing(f.Close, &err)
	return do(f)
}
