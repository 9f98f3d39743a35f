package opencode

import (
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// The keys under which providers' packages keep what only the model that made a
// reasoning part can read: the reasoning itself, sealed, or proof that the
// readable text beside it is genuine.
var (
	sealedKeys    = []string{"reasoningEncryptedContent", "redactedData", "reasoningOpaque"}
	signatureKeys = []string{"signature", "thoughtSignature"}
)

// reasoning adds a reasoning part: its text, and the sealed reasoning, which
// goes back to the same model only. A signature stands for the reasoning where
// there is no text.
func (r *builder) reasoning(i int, p *part, request int, sent bool) {
	it := rollout.Item{Kind: rollout.Reasoning, Role: rollout.RoleAssistant}
	keys := slices.Concat(sealedKeys, signatureKeys)
	if p.Text.V != "" {
		it.Text = r.b.Text(p.Text.V)
		r.produced(i, it, request, sent)
		keys = sealedKeys
	}
	data := metadata(p.Metadata, keys)
	if data == "" {
		return
	}
	it.Text = r.b.OpaqueText(data)
	at := r.produced(i, it, request, sent)
	provider, model := r.doc.messages[i].messageInfo.model()
	at.model = provider + "/" + model
	if at.entry != nil {
		r.signed = append(r.signed, at)
	}
}

// metadata finds the first of the keys in the metadata of a part, which is an
// object per provider.
func metadata(raw jsontext.Value, keys []string) string {
	var providers map[string]logfile.Lenient[map[string]text]
	if len(raw) == 0 || logfile.Unmarshal(raw, &providers) != nil {
		return ""
	}
	for _, provider := range slices.Sorted(maps.Keys(providers)) {
		for _, key := range keys {
			if s := providers[provider].V[key].V; s != "" {
				return s
			}
		}
	}
	return ""
}
