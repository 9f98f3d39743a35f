package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/claudecode"
	"github.com/fclog/fclog/rollout/codex"
	"github.com/fclog/fclog/rollout/freecode"
)

func cut(s string, n int) string {
	s = strings.ReplaceAll(s, "\n", "⏎")
	r := []rune(s)
	if len(r) > n {
		return string(r[:n*2/3]) + " ~~ " + string(r[len(r)-n/3:])
	}
	return s
}

func main() {
	mode := os.Args[1]
	for _, p := range os.Args[2:] {
		var ss []*rollout.Session
		var err error
		switch {
		case strings.Contains(p, "codex"):
			ss, err = codex.Read(context.Background(), p)
		case strings.Contains(p, "claude"):
			ss, err = claudecode.Read(context.Background(), p)
		default:
			ss, err = freecode.Read(context.Background(), p)
		}
		if err != nil {
			fmt.Println(p, err)
			continue
		}
		for _, s := range ss {
			n := 0
			for _, c := range s.Calls {
				if c.Truncated != "" && !c.Inherited {
					n++
				}
			}
			if mode == "count" {
				fmt.Println(filepath.Base(p), s.ID, len(s.Calls), n)
				continue
			}
			for i, c := range s.Calls {
				if c.Truncated == "" || c.Inherited {
					continue
				}
				t := ""
				chars := 0
				if c.ResultItem >= 0 {
					x := s.Texts[s.Items[c.ResultItem].Text]
					t = x.S
					chars = x.Chars
				}
				k := s.Requests[max(c.Request, 0)]
				fmt.Printf("=== %s %s call %d line %d chain %d req %d tool %s %s handle=%s chars=%d\n  ARGS %s\n  OUT %s\n", filepath.Base(p), s.ID, i, c.Line, k.Chain, k.Number, c.Tool, c.Truncated, cut(c.Handle, 80), chars, cut(s.Texts[c.Args].S, 2400), cut(t, 100))
				for j := range s.Calls {
					d := s.Calls[j]
					if d.Request < 0 || c.Request < 0 || j == i {
						continue
					}
					q := s.Requests[d.Request]
					if q.Chain != k.Chain || q.Number < k.Number || q.Number > k.Number+3 {
						continue
					}
					fmt.Printf("  +%d %s line %d [%s] rec=%s trunc=%s %s\n", q.Number-k.Number, d.Tool, d.Line, d.Parent, cut(d.Recovers, 60), d.Truncated, cut(s.Texts[d.Args].S, 1700))
				}
			}
		}
	}
}
