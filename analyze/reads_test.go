package analyze

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/analyze/dataset"
)

func TestOverlappingReads(t *testing.T) {
	type step struct {
		path, lines string // of a read
		edits       string // path of an edit instead
		shell       bool   // a command that may change anything instead
	}
	for _, c := range []struct {
		name  string
		steps []step
		gone  int64 // last request that carries the first result; 0: to the end
		want  int   // overlapping re-reads
	}{
		{name: "lines 50 to 149 after 1 to 100", steps: []step{{path: "f", lines: "1:100"}, {path: "f", lines: "50:100"}}, want: 1},
		{name: "lines 101 to 200 after 1 to 100", steps: []step{{path: "f", lines: "1:100"}, {path: "f", lines: "101:100"}}},
		{name: "a part after the whole", steps: []step{{path: "f"}, {path: "f", lines: "900:10"}}, want: 1},
		{name: "from a line on after a part before it", steps: []step{{path: "f", lines: "1:9"}, {path: "f", lines: "10:"}}},
		{name: "another file", steps: []step{{path: "f"}, {path: "g"}}},
		{name: "edited in between", steps: []step{{path: "f"}, {edits: "f"}, {path: "f"}}},
		{name: "another file edited in between", steps: []step{{path: "f"}, {edits: "g"}, {path: "f"}}, want: 1},
		{name: "a command that may change anything in between", steps: []step{{path: "f"}, {shell: true}, {path: "f"}}},
		{name: "edited before both", steps: []step{{edits: "f"}, {path: "f"}, {path: "f"}}, want: 1},
		{name: "three times counts twice", steps: []step{{path: "f"}, {path: "f"}, {path: "f"}}, want: 2},
		{name: "the first result had left the conversation", steps: []step{{path: "f"}, {path: "g"}, {path: "f"}}, gone: 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &builder{}
			b.session(dataset.Session{SessionID: "a"})
			last := int64(len(c.steps) + 1)
			for range last {
				b.request("a", usage(1, 0, 1, 0, 0))
			}
			for i, s := range c.steps {
				n := int64(i + 1)
				switch {
				case s.edits != "":
					b.call("a", n, dataset.Call{Class: "edit", Path: known(s.edits), Mutates: true})
				case s.shell:
					b.call("a", n, dataset.Call{Class: "shell", Mutates: true})
				default:
					until := last
					if i == 0 && c.gone > 0 {
						until = c.gone
					}
					result := b.carry("a", "tool_result", "read", 10, n+1, until)
					b.call("a", n, dataset.Call{Class: "read", Path: known(s.path), Range: known(s.lines), ResultItem: &result})
				}
			}
			rows := ask(t, b.open(t), "overlapping-reads", Params{})
			require.Len(t, rows, c.want)
			for _, row := range rows {
				assert.Equal(t, int64(10), row["tokens"])
			}
		})
	}
}

// Four cut results: one paged back in the next request, one after four, one that
// can be asked for but never was, one lost.
func TestTruncations(t *testing.T) {
	b := &builder{}
	b.session(dataset.Session{SessionID: "a"})
	for range 6 {
		b.request("a", usage(1, 0, 1, 0, 0))
	}
	for i, c := range []dataset.Call{
		{Truncated: ptr("recoverable"), Handle: ptr("h1")},
		{Truncated: ptr("recoverable"), Handle: ptr("h2")},
		{Truncated: ptr("recoverable"), Handle: ptr("h3")},
		{Truncated: ptr("lost")},
	} {
		c.Tool, c.Class, c.OutputKind = "bash", "shell", ptr("log")
		result := b.carry("a", "tool_result", "bash", int64(100+i), 2, 6)
		c.ResultItem = &result
		b.call("a", 1, c)
	}
	b.call("a", 2, dataset.Call{Tool: "output", Class: "retrieve", Recovers: ptr("h1")})
	b.call("a", 5, dataset.Call{Tool: "output", Class: "retrieve", Recovers: ptr("h2")})
	b.call("a", 6, dataset.Call{Tool: "output", Class: "retrieve", Recovers: ptr("h2")})
	row := func(truncated string, results, tokens, within, later, never int64) map[string]any {
		return map[string]any{
			"session_id": "a", "tool": "bash", "output_kind": "log", "truncated": truncated, "results": results, "tokens": tokens,
			"back_within_3": within, "back_later": later, "never": never,
		}
	}
	assert.Equal(t, []map[string]any{
		row("recoverable", 3, 100+101+102, 1, 1, 1),
		row("lost", 1, 103, 0, 0, 1),
	}, ask(t, b.open(t), "truncations", Params{}))
}
