package variants

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/rollout"
)

func TestKeepCalled(t *testing.T) {
	called := map[string]bool{"read": true, "mcp__git__log": true}
	cases := []struct {
		name, tool, text, left string
		names                  []string
		unread                 bool
	}{
		{name: "called, one definition", tool: "read", text: `{"type":"object"}`, left: `{"type":"object"}`},
		{name: "never called, one definition", tool: "web", text: `{"type":"object"}`, names: []string{"web"}},
		{name: "list", text: `[ {"name":"read","x": 1}, {"name":"web"} ,{"name":"write"}]`, left: `[{"name":"read","x": 1}]`, names: []string{"web", "write"}},
		{name: "list of all called", text: `[ {"name":"read"} ]`, left: `[ {"name":"read"} ]`},
		{name: "list of none called", text: `[{"name":"web"}]`, names: []string{"web"}},
		{name: "function inside", text: `[{"type":"function","function":{"name":"read"}},{"type":"function","function":{"name":"web"}}]`,
			left: `[{"type":"function","function":{"name":"read"}}]`, names: []string{"web"}},
		{name: "namespace with a called tool", text: `[{"name":"git","tools":[{"name":"log"},{"name":"push"}]}]`, left: `[{"name":"git","tools":[{"name":"log"},{"name":"push"}]}]`},
		{name: "without a name", text: `[{"type":"builtin"},{"name":"web"}]`, left: `[{"type":"builtin"}]`, names: []string{"web"}},
		{name: "prose", text: `use the tools`, left: `use the tools`, unread: true},
		{name: "cut", text: `[{"name":"web"`, left: `[{"name":"web"`, unread: true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			left, names, ok := keepCalled(c.tool, c.text, called)
			assert.Equal(t, !c.unread, ok)
			assert.Equal(t, c.left, left)
			assert.Equal(t, c.names, names)
		})
	}
}

func TestDropUnusedTools(t *testing.T) {
	s := newScript()
	s.item(rollout.SlotTools, rollout.Item{Kind: rollout.ToolDefinitions, Tool: "read"}, "reads a file")
	s.item(rollout.SlotTools, rollout.Item{Kind: rollout.ToolDefinitions, Tool: "web"}, "fetches any page")
	s.user("x").request(107, 1, reply{asks: []ask{reads("a", "b")}}).request(110, 1, reply{text: "done"})
	v := s.recorded(t)
	p := DropUnusedTools().Plan(v, nil)
	require.Len(t, p.Edits, 1)
	assert.True(t, p.Edits[0].Early(v.Session))
	input, _, _ := pricedInput(v, p, false)
	assert.EqualValues(t, 107+110-2*3, input)
	assert.Contains(t, p.Warnings[0], "1 defined tool was never called")

	none := newScript().user("x").request(107, 1, reply{}).recorded(t)
	assert.Equal(t, "the log does not hold the tool definitions", DropUnusedTools().Plan(none, nil).Unsupported)
}

func FuzzKeepCalled(f *testing.F) {
	f.Add("", `[{"name":"a"},{"function":{"name":"b"}}]`)
	f.Add("t", `{"name":1}`)
	f.Fuzz(func(t *testing.T, tool, text string) {
		left, names, _ := keepCalled(tool, text, map[string]bool{"a": true})
		if len(left) > len(text) {
			t.Fatalf("grew to %d of %d bytes", len(left), len(text))
		}
		if len(names) == 0 && left != text && left != strings.TrimSpace(text) {
			t.Fatal("changed although nothing was left out")
		}
	})
}
