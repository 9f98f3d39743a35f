package apilog

import "github.com/fclog/fclog/rollout"

// Format is this package as one of the formats that fclog reads.
func Format() rollout.Format {
	return rollout.Format{
		Name: Name, Title: "API log",
		Detect: Detect, Read: Read, Companions: Companions, Depends: Depends, Homes: Homes,
		About: rollout.About{
			Carriers: []string{
				"JSON Lines or arrays of request bodies, or of request and response pairs",
				"HAR",
				"exports of LiteLLM, Langfuse and Helicone",
				"OTLP JSON with gen_ai messages",
			},
			Places:      "wherever your proxy or gateway writes them",
			Unversioned: true,
			Lacks: []rollout.Lack{
				{What: "request bodies", When: "gateways set to keep metadata alone"},
				{What: "parts of some bodies", When: "gateways that cut or redact bodies"},
			},
			Fidelity: "nothing is rebuilt: the payload stands in the log",
			Limits: []string{
				"APIs: Anthropic Messages, OpenAI Chat Completions and Responses, Gemini generateContent",
				"without session IDs, calls are sorted into sessions by how their histories continue each other",
			},
		},
	}
}
