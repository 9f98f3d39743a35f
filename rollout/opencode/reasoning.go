package opencode

import (
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// signatures are the keys under which providers' packages keep what only the
// model that made a reasoning part can read.
var signatures = []string{"reasoningEncryptedContent", "redactedData", "signature", "thoughtSignature", "reasoningOpaque"}

// reasoning adds a reasoning part: its text, and the sealed form of it that goes
// back to the same model only.
func (r *builder) reasoning(i int, p *part, request int, sent bool) {
	if p.Text.V != "" {
		r.produced(i, rollout.Item{Kind: rollout.Reasoning, Role: rollout.RoleAssistant, Text: r.b.Text(p.Text.V)}, request, sent)
	}
	data := sealed(p.Metadata)
	if data == "" {
		return
	}
	it := rollout.Item{Kind: rollout.Reasoning, Role: rollout.RoleAssistant, Label: "signature", Text: r.b.OpaqueText(data)}
	if p.Text.V != "" {
		// The readable text beside it is what counts as tokens.
		zero := int64(0)
		it.Tokens = &zero
	}
	at := r.produced(i, it, request, sent)
	provider, model := r.doc.messages[i].messageInfo.model()
	at.model = provider + "/" + model
	if at.entry != nil {
		r.signed = append(r.signed, at)
	}
}

// sealed finds the sealed reasoning in the metadata of a part, which is an
// object per provider.
func sealed(raw jsontext.Value) string {
	var providers map[string]logfile.Lenient[map[string]text]
	if len(raw) == 0 || logfile.Unmarshal(raw, &providers) != nil {
		return ""
	}
	for _, provider := range slices.Sorted(maps.Keys(providers)) {
		for _, key := range signatures {
			if s := providers[provider].V[key].V; s != "" {
				return s
			}
		}
	}
	return ""
}
