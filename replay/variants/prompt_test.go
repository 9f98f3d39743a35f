package variants

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/rollout"
)

func promptFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "text.md")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// A tool definition as a text file: its own 5 words in every one of 3 requests.
func TestPromptAdd(t *testing.T) {
	v := newScript().user("x").request(100, 1, reply{text: "a"}).request(101, 1, reply{text: "b"}).request(102, 1, reply{}).recorded(t)
	p := Prompt().Plan(v, replay.Values{"add": promptFile(t, "---\nreplaces: tools\n---\na tool of five words\n")})
	require.Len(t, p.Additions, 1)
	assert.Equal(t, rollout.ToolDefinitions, p.Additions[0].Kind)
	input, _, _ := pricedInput(v, p, false)
	assert.EqualValues(t, 100+101+102+3*5, input)
	low, _ := priced(t, v, p)
	assert.EqualValues(t, 303+15, *low.Total.InputTokens)
}

// A request that sends another one's whole payload again carries the text with it.
func TestPromptAddOnABase(t *testing.T) {
	s := newScript().user("x").request(100, 1, reply{text: "a"})
	helper := s.b.Chain()
	input, output := int64(105), int64(1)
	helper.Request(rollout.Request{Kind: rollout.KindHelper, Status: rollout.Answered, Run: 1, Attempt: 1, Base: 0, Usage: rollout.Usage{Input: &input, Output: &output}})
	v := s.recorded(t)
	p := Prompt().Plan(v, replay.Values{"add": promptFile(t, "two words")})
	require.Len(t, p.Additions, 1)
	assert.Equal(t, 0, p.Additions[0].Chain)
	low, _ := priced(t, v, p)
	assert.EqualValues(t, 100+2+105+2, *low.Total.InputTokens)
}

func TestPromptReplacesTheLoggedOne(t *testing.T) {
	s := newScript()
	s.item(rollout.SlotSystem, rollout.Item{Kind: rollout.SystemPrompt}, "You are an agent. Do not poll tasks.") // 8 words
	s.item(rollout.SlotSystem, rollout.Item{Kind: rollout.SystemPrompt}, "Some more rules.")                     // 3
	v := s.user("x").request(112, 1, reply{text: "a"}).request(113, 1, reply{}).recorded(t)
	p := Prompt().Plan(v, replay.Values{"file": promptFile(t, "You work.")}) // 2
	input, _, _ := pricedInput(v, p, false)
	assert.EqualValues(t, 112+113-2*(8+3-2), input)
	require.Len(t, p.Warnings, 1)
	assert.Contains(t, p.Warnings[0], `rule no-poll: "Do not poll tasks."`)

	// With the text it replaces named, the other block stays.
	p = Prompt().Plan(v, replay.Values{"file": promptFile(t, "You work."), "base": promptFile(t, "You are an agent. Do not poll tasks.\n")})
	input, _, _ = pricedInput(v, p, false)
	assert.EqualValues(t, 112+113-2*(8-2), input)
}

func TestPromptWithABase(t *testing.T) {
	v := newScript().user("x").request(100, 1, reply{text: "a"}).request(101, 1, reply{}).recorded(t)
	need := Prompt().Plan(v, replay.Values{"file": "lean"})
	assert.Contains(t, need.Unsupported, "base=FILE")

	p := Prompt().Plan(v, replay.Values{"file": promptFile(t, "one two"), "base": promptFile(t, "one two three four five")})
	require.Len(t, p.Additions, 1)
	assert.EqualValues(t, -3, *p.Additions[0].Tokens)
	low, _ := priced(t, v, p)
	assert.EqualValues(t, 100+101-2*3, *low.Total.InputTokens)
}

func TestPromptWithoutFiles(t *testing.T) {
	v := newScript().user("x").request(100, 1, reply{}).recorded(t)
	assert.NotEmpty(t, Prompt().Plan(v, nil).Unsupported)
	assert.Contains(t, Prompt().Plan(v, replay.Values{"file": "no such file"}).Unsupported, "no such file")
	assert.Contains(t, Prompt().Plan(v, replay.Values{"add": t.TempDir()}).Unsupported, "reading prompt")
}
