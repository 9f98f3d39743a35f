package apilog

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// counts are the token counts of any API, under every name they have.
type counts struct {
	Input      logfile.Lenient[int64] `json:"input_tokens"`
	Output     logfile.Lenient[int64] `json:"output_tokens"`
	CacheRead  logfile.Lenient[int64] `json:"cache_read_input_tokens"`
	CacheWrite logfile.Lenient[int64] `json:"cache_creation_input_tokens"`
	Creation   logfile.Lenient[struct {
		Short logfile.Lenient[int64] `json:"ephemeral_5m_input_tokens"`
		Long  logfile.Lenient[int64] `json:"ephemeral_1h_input_tokens"`
	}] `json:"cache_creation"`
	InputDetails  logfile.Lenient[details] `json:"input_tokens_details"`
	OutputDetails logfile.Lenient[details] `json:"output_tokens_details"`

	Prompt            logfile.Lenient[int64]   `json:"prompt_tokens"`
	Completion        logfile.Lenient[int64]   `json:"completion_tokens"`
	PromptDetails     logfile.Lenient[details] `json:"prompt_tokens_details"`
	CompletionDetails logfile.Lenient[details] `json:"completion_tokens_details"`

	GeminiPrompt logfile.Lenient[int64] `json:"promptTokenCount"`
	GeminiCached logfile.Lenient[int64] `json:"cachedContentTokenCount"`
	Candidates   logfile.Lenient[int64] `json:"candidatesTokenCount"`
	Thoughts     logfile.Lenient[int64] `json:"thoughtsTokenCount"`
	ToolPrompt   logfile.Lenient[int64] `json:"toolUsePromptTokenCount"`
}

type details struct {
	Cached    logfile.Lenient[int64] `json:"cached_tokens"`
	Written   logfile.Lenient[int64] `json:"cache_write_tokens"`
	Reasoning logfile.Lenient[int64] `json:"reasoning_tokens"`
}

// usageMerge puts together the usage that the events of a stream tell.
type usageMerge struct {
	c   counts
	any bool
}

// add takes every count that an event has; the last one of each stands.
func (m *usageMerge) add(raw jsontext.Value) {
	if raw.Kind() != '{' {
		return
	}
	m.any = true
	// Decoding into the same value keeps what this event does not name.
	if logfile.Unmarshal(raw, &m.c) != nil {
		m.c = counts{}
	}
}

func (m *usageMerge) replace(raw jsontext.Value) {
	if raw.Kind() == '{' {
		m.c, m.any = decode[counts](raw), true
	}
}

func (m *usageMerge) result() (rollout.Usage, bool) {
	if !m.any {
		return rollout.Usage{}, false
	}
	return m.c.usage()
}

func readUsage(raw jsontext.Value) (rollout.Usage, bool) {
	var m usageMerge
	m.add(raw)
	return m.result()
}

// usage brings the counts of an API to one meaning: input with its cached parts,
// output with its reasoning. ok is false where nothing is told.
func (c counts) usage() (u rollout.Usage, ok bool) {
	switch {
	case c.GeminiPrompt.OK || c.Candidates.OK:
		u = c.gemini()
	case c.Prompt.OK || c.Completion.OK:
		u = c.chat()
	case c.Input.OK && (c.InputDetails.OK || c.OutputDetails.OK) && !c.CacheRead.OK && !c.CacheWrite.OK:
		u = c.responses()
	case c.Input.OK || c.Output.OK:
		u = c.anthropic()
	}
	return u, u.Input != nil || u.Output != nil
}

func (c counts) anthropic() rollout.Usage {
	u := rollout.Usage{CacheRead: known(c.CacheRead), CacheWrite: known(c.CacheWrite), Output: known(c.Output)}
	u.CacheWrite5m, u.CacheWrite1h = known(c.Creation.V.Short), known(c.Creation.V.Long)
	u.Reasoning = known(c.OutputDetails.V.Reasoning)
	u.Input = sum(known(c.Input), u.CacheRead, u.CacheWrite)
	return u
}

func (c counts) chat() rollout.Usage {
	u := rollout.Usage{Input: known(c.Prompt), Output: known(c.Completion)}
	u.CacheRead, u.Reasoning = known(c.PromptDetails.V.Cached), known(c.CompletionDetails.V.Reasoning)
	if u.CacheRead == nil {
		u.CacheRead = known(c.CacheRead)
	}
	u.CacheWrite = known(c.CacheWrite)
	if u.CacheWrite == nil {
		u.CacheWrite = known(c.PromptDetails.V.Written)
	}
	return u
}

func (c counts) responses() rollout.Usage {
	return rollout.Usage{
		Input: known(c.Input), Output: known(c.Output), CacheRead: known(c.InputDetails.V.Cached),
		CacheWrite: known(c.InputDetails.V.Written), Reasoning: known(c.OutputDetails.V.Reasoning),
	}
}

// gemini: the thoughts stand beside the candidates, the prompt of tools beside
// the prompt.
func (c counts) gemini() rollout.Usage {
	return rollout.Usage{
		Input: sum(known(c.GeminiPrompt), known(c.ToolPrompt)), CacheRead: known(c.GeminiCached),
		Output: sum(known(c.Candidates), known(c.Thoughts)), Reasoning: known(c.Thoughts),
	}
}

func known(v logfile.Lenient[int64]) *int64 {
	if !v.OK {
		return nil
	}
	return &v.V
}

// sum adds what is known to the first value; nil without that. A value out of
// range makes the sum one, so that the limit is tested in one place.
func sum(first *int64, more ...*int64) *int64 {
	if first == nil {
		return nil
	}
	total := *first
	for _, v := range more {
		if v == nil {
			continue
		}
		if *v < 0 || *v > rollout.MaxTokens || total < 0 || total > rollout.MaxTokens {
			bad := int64(-1)
			return &bad
		}
		total += *v
	}
	return &total
}

// sound leaves out counts that are negative or absurd and cuts parts to their
// whole. clean is false if it had to.
func sound(u rollout.Usage) (out rollout.Usage, clean bool) {
	clean = true
	limit := func(v *int64, most int64) *int64 {
		switch {
		case v == nil || *v >= 0 && *v <= most:
			return v
		case *v < 0 || *v > rollout.MaxTokens:
			clean = false
			return nil
		}
		clean = false
		return &most
	}
	rest := func(whole, part *int64) int64 {
		if whole == nil {
			return rollout.MaxTokens
		}
		if part == nil {
			return *whole
		}
		return *whole - *part
	}
	out.Input = limit(u.Input, rollout.MaxTokens)
	out.Output = limit(u.Output, rollout.MaxTokens)
	out.CacheRead = limit(u.CacheRead, rest(out.Input, nil))
	out.CacheWrite = limit(u.CacheWrite, rest(out.Input, out.CacheRead))
	out.CacheWrite5m = limit(u.CacheWrite5m, rest(out.CacheWrite, nil))
	out.CacheWrite1h = limit(u.CacheWrite1h, rest(out.CacheWrite, out.CacheWrite5m))
	out.Reasoning = limit(u.Reasoning, rest(out.Output, nil))
	return out, clean
}
