package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fclog/fclog/internal/redact"
	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/measure"
)

// redactor redacts every text once.
type redactor struct {
	*redact.Redactor
	done map[string]string
}

func (r redactor) text(s string) string {
	out, ok := r.done[s]
	if !ok {
		out = r.Text(s)
		r.done[s] = out
	}
	return out
}

// redactedText is a text that changed.
type redactedText struct {
	hash         string
	chars, bytes int64
}

// redact puts placeholders in place of the secrets in every string of the rows of
// one file. All texts are measured by then: tokens stay those of the log. Hashes of
// what changed become those of the text with placeholders, for a hash of the
// original would let a short password be found by trying.
func (rows *Rows) redact(sessions []*rollout.Session) error {
	secrets, err := redact.New()
	if err != nil {
		return err
	}
	r := redactor{secrets, map[string]string{}}
	for _, s := range sessions {
		for _, t := range s.Texts {
			r.Learn(t.S)
		}
		for _, c := range s.Calls {
			r.Learn(c.Command)
		}
	}
	for i, s := range sessions {
		changed := map[string]redactedText{}
		before := r.Replaced
		for _, t := range s.Texts {
			if text := r.text(t.S); text != t.S {
				sum := sha256.Sum256([]byte(text))
				changed[hashOf(t)] = redactedText{hex.EncodeToString(sum[:]), int64(utf8.RuneCountInString(text)), int64(len(text))}
			}
		}
		n := r.Replaced - before
		rows.Sessions[i].Redacted = &n
		rows.rehash(s, changed)
		rows.rekey(s, r)
	}
	for _, table := range []any{rows.Sessions, rows.Requests, rows.Items, rows.Spans, rows.Calls, rows.Texts, rows.OtherBilled, rows.Reported, rows.Calibrations, rows.Problems} {
		redactStrings(reflect.ValueOf(table), r)
	}
	rows.distinctTexts()
	return nil
}

// rehash makes the rows of a session speak of its texts as they are now. The size of
// a text that changed is no longer a count of it.
func (rows *Rows) rehash(s *rollout.Session, changed map[string]redactedText) {
	for i := range rows.Items {
		it := &rows.Items[i]
		if t, ok := changed[it.TextHash]; ok && it.SessionID == s.ID {
			it.TextHash, it.Chars, it.Bytes, it.Sized = t.hash, t.chars, t.bytes, it.Tokens != nil
		}
	}
	for i := range rows.Spans {
		sp := &rows.Spans[i]
		if t, ok := changed[sp.TextHash]; ok && sp.SessionID == s.ID {
			sp.TextHash, sp.Chars, sp.Bytes, sp.Sized = t.hash, t.chars, t.bytes, sp.Tokens != nil
		}
	}
	for i := range rows.Calls {
		c := &rows.Calls[i]
		if c.FullHash == nil || c.SessionID != s.ID {
			continue
		}
		if t, ok := changed[*c.FullHash]; ok {
			c.FullHash, c.FullChars = &t.hash, &t.chars
		}
	}
	for i := range rows.Texts {
		if t, ok := changed[rows.Texts[i].TextHash]; ok && rows.Texts[i].SessionID == s.ID {
			rows.Texts[i].TextHash = t.hash
		}
	}
}

// rekey hashes the arguments of calls again where they changed.
func (rows *Rows) rekey(s *rollout.Session, r redactor) {
	for i := range rows.Calls {
		row := &rows.Calls[i]
		if row.SessionID != s.ID {
			continue
		}
		c := s.Calls[row.Call]
		args := s.Texts[c.Args].S
		if text := r.text(args); text != args {
			row.ArgsHash, row.ArgsKey = measure.ArgsKeys(c, text)
		}
	}
}

// redactStrings redacts every string of a slice of rows.
func redactStrings(rows reflect.Value, r redactor) {
	for i := range rows.Len() {
		row := rows.Index(i)
		for j := range row.NumField() {
			switch f := row.Field(j).Addr().Interface().(type) {
			case *string:
				*f = r.text(*f)
			case **string:
				if *f != nil {
					s := r.text(**f)
					*f = &s
				}
			case *[]string:
				*f = slices.Clone(*f) // others may hold it too
				for k := range *f {
					(*f)[k] = r.text((*f)[k])
				}
			}
		}
	}
}

// distinctTexts leaves out texts that became equal, and notes how many are left.
func (rows *Rows) distinctTexts() {
	type key struct{ session, hash string }
	seen, left := map[key]bool{}, map[string]int{}
	rows.Texts = slices.DeleteFunc(rows.Texts, func(t Text) bool {
		k := key{t.SessionID, t.TextHash}
		was := seen[k]
		seen[k] = true
		if !was {
			left[t.SessionID]++
		}
		return was
	})
	for i := range rows.Sessions {
		for j, content := range rows.Sessions[i].Contents {
			if strings.HasPrefix(content, "texts=") {
				rows.Sessions[i].Contents[j] = fmt.Sprintf("texts=%d", left[rows.Sessions[i].SessionID])
			}
		}
	}
}
