package measure

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/compress"
	"github.com/fclog/fclog/internal/tokens"
	"github.com/fclog/fclog/rollout"
)

// session builds a session of the given calls, one request each unless a call
// shares one with the call before it.
type callSpec struct {
	tool, args string
	class      rollout.ToolClass
	same       bool // same response as the call before
	change     func(*rollout.Call)
}

func sessionOf(t testing.TB, specs ...callSpec) *rollout.Session {
	b := rollout.NewBuilder("test")
	b.Session.ID = "s"
	chain := b.Chain()
	request := -1
	for i, spec := range specs {
		if spec.tool == "compact" {
			chain.Add(rollout.SlotSystem, b.Item(rollout.Item{Kind: rollout.Summary, Origin: rollout.Logged, Request: -1, Text: b.Text("so far")}))
			continue
		}
		if !spec.same {
			request = chain.Request(rollout.Request{Kind: rollout.KindTurn, Status: rollout.Answered, Run: 1, Attempt: 1, Base: -1})
		}
		c := rollout.Call{ID: fmt.Sprint(i), Tool: spec.tool, Class: spec.class, Args: b.Text(spec.args), Request: request, ArgsItem: -1, ResultItem: -1, Ran: true}
		if spec.change != nil {
			spec.change(&c)
		}
		b.Call(c)
	}
	s := b.Finish()
	require.NoError(t, rollout.Check(s))
	return s
}

func read(args string) callSpec {
	return callSpec{tool: "read", args: args, class: rollout.ReadTool, change: func(c *rollout.Call) { c.ReadOnly = true }}
}

func look(command string) callSpec {
	return callSpec{tool: "bash", args: `{"command":"` + command + `"}`, class: rollout.ShellTool, change: func(c *rollout.Call) { c.ReadOnly, c.Command = true, command }}
}

func do(command string) callSpec {
	return callSpec{tool: "bash", args: `{"command":"` + command + `"}`, class: rollout.ShellTool, change: func(c *rollout.Call) { c.Mutates, c.Command = true, command }}
}

func repeatsOf(facts []CallFacts) (loose, strict []int) {
	for _, f := range facts {
		loose, strict = append(loose, f.RepeatOf), append(strict, f.StrictRepeatOf)
	}
	return loose, strict
}

func TestRepeats(t *testing.T) {
	a, b := read(`{"path":"a"}`), read(`{"path":"b"}`)
	with := func(c callSpec, change func(*rollout.Call)) callSpec {
		old := c.change
		c.change = func(call *rollout.Call) { old(call); change(call) }
		return c
	}
	edit := callSpec{tool: "edit", args: `{"path":"z"}`, class: rollout.EditTool, change: func(c *rollout.Call) { c.Mutates = true }}
	poll := callSpec{tool: "poll", args: `{"id":1}`, class: rollout.PollTool}
	cases := []struct {
		name          string
		calls         []callSpec
		loose, strict []int
	}{
		{"first of six, latest before", []callSpec{a, a, b, a}, []int{-1, 0, -1, 0}, []int{-1, 0, -1, 1}},
		{"an edit resets", []callSpec{a, edit, a, a}, []int{-1, -1, 0, 0}, []int{-1, -1, -1, 2}},
		{"a command that may write resets", []callSpec{a, do("make"), a}, []int{-1, -1, 0}, []int{-1, -1, -1}},
		{"a command that looks does not", []callSpec{a, look("ls"), a}, []int{-1, -1, 0}, []int{-1, -1, 0}},
		{"a writing command right after itself", []callSpec{do("make"), do("make")}, []int{-1, 0}, []int{-1, 0}},
		{"a loop", []callSpec{do("make"), do("make"), do("make"), do("make")}, []int{-1, 0, 0, 0}, []int{-1, 0, 1, 2}},
		{"a loop of two", []callSpec{look("ls a"), look("ls b"), look("ls a"), look("ls b")}, []int{-1, -1, 0, 1}, []int{-1, -1, 0, 1}},
		{"a compaction resets", []callSpec{a, {tool: "compact"}, a}, []int{-1, 0}, []int{-1, -1}},
		{"other range", []callSpec{read(`{"path":"a","offset":1}`), read(`{"path":"a","offset":9}`)}, []int{-1, -1}, []int{-1, -1}},
		{"spelling", []callSpec{read(`{"path":"a","offset":"9"}`), read(`{"offset":9,"path":" a ","limit":null}`)}, []int{-1, -1}, []int{-1, 0}},
		{"polls", []callSpec{poll, poll}, []int{-1, 0}, []int{-1, -1}},
		{"denied", []callSpec{a, with(a, func(c *rollout.Call) { c.Ran = false }), a}, []int{-1, -1, 0}, []int{-1, -1, 0}},
		{"failed counts", []callSpec{with(a, func(c *rollout.Call) { c.Failed = new(true) }), a}, []int{-1, 0}, []int{-1, 0}},
		{"inherited", []callSpec{with(a, func(c *rollout.Call) { c.Inherited = true }), a}, []int{-1, -1}, []int{-1, -1}},
		{"unknown arguments", []callSpec{read(""), read("")}, []int{-1, -1}, []int{-1, -1}},
		{"other tool", []callSpec{a, {tool: "view", args: `{"path":"a"}`, class: rollout.ReadTool}}, []int{-1, -1}, []int{-1, -1}},
	}
	for _, c := range cases {
		loose, strict := repeatsOf(Measure(sessionOf(t, c.calls...), tokens.New()).Calls)
		assert.Equal(t, c.loose, loose, c.name)
		assert.Equal(t, c.strict, strict, c.name)
	}
}

func TestBatchAndOutputKind(t *testing.T) {
	second := read(`{"path":"b"}`)
	second.same = true
	facts := measureCalls(sessionOf(t, read(`{"path":"a"}`), second, look("git diff")))
	assert.Equal(t, []int64{2, 2, 1}, []int64{facts[0].BatchSize, facts[1].BatchSize, facts[2].BatchSize})
	assert.Equal(t, []compress.Kind{"", "", compress.Source}, []compress.Kind{facts[0].OutputKind, facts[1].OutputKind, facts[2].OutputKind})
	// printf 'read:{"path":"a"}' | sha256sum
	assert.Equal(t, "c8e2df3491d549a21cd7c09afa97f205845f1d0ee7638d527e4468cb7c090d0f", facts[0].ArgsHash)
}

func TestCanonicalArgs(t *testing.T) {
	shell := rollout.Call{Class: rollout.ShellTool}
	other := rollout.Call{Class: rollout.OtherTool}
	equal := []struct {
		call rollout.Call
		a, b string
	}{
		{other, `{"a":1,"b":true}`, ` { "b" : "true", "a" : "1" } `},
		{other, `{"a":"x"}`, `{"a":" x\n"}`},
		{other, `{"a":{"c":1,"b":2}}`, `{"a":{"b":"2","c":"1"},"d":[],"e":{},"f":"","g":null,"h":false}`},
		{other, "free text", "\nfree text "},
		{shell, `{"command":"ls","description":"list"}`, `{"command":"ls","description":"show files"}`},
	}
	for _, c := range equal {
		assert.Equal(t, canonicalArgs(c.call, c.a), canonicalArgs(c.call, c.b), c.a)
	}
	different := []struct{ a, b string }{
		{`{"a":1}`, `{"a":2}`},
		{`{"a":[1,2]}`, `{"a":[2,1]}`},
		{`{"a":"b\",\"c"}`, `{"a":"b","c":""}`},
		{`{"a":1} x`, `{"a":1}`},
		{`{"description":"a"}`, `{"description":"b"}`},
		{`{"a":true}`, `{}`},
	}
	for _, c := range different {
		assert.NotEqual(t, canonicalArgs(other, c.a), canonicalArgs(other, c.b), c.a)
	}
}

// However valid arguments are laid out, their canonical form is the same.
func FuzzCanonicalArgs(f *testing.F) {
	f.Add(`{"a":[1,{"b":null}],"c":"x"}`)
	f.Fuzz(func(t *testing.T, args string) {
		c := rollout.Call{Class: rollout.ShellTool}
		var spaced bytes.Buffer
		if json.Indent(&spaced, []byte(args), " ", "\t") == nil && canonicalArgs(c, args) != canonicalArgs(c, spaced.String()) {
			t.Fatal("layout changed the key")
		}
	})
}

func TestCallsOfAScriptAreNoRepeats(t *testing.T) {
	byScript := func(c *rollout.Call) { c.Parent = "0" }
	s := sessionOf(t,
		callSpec{tool: "codemode", args: `{"script":"…"}`, class: rollout.OtherTool},
		callSpec{tool: "bash", args: `{"command":"ls"}`, class: rollout.ShellTool, change: byScript},
		callSpec{tool: "bash", args: `{"command":"ls"}`, class: rollout.ShellTool, change: byScript},
		callSpec{tool: "bash", args: `{"command":"ls"}`, class: rollout.ShellTool},
		callSpec{tool: "bash", args: `{"command":"ls"}`, class: rollout.ShellTool})
	var repeats []int
	for _, c := range measureCalls(s) {
		repeats = append(repeats, c.RepeatOf)
	}
	assert.Equal(t, []int{-1, -1, -1, -1, 3}, repeats, "only the model's own second ls repeats its first")
}
