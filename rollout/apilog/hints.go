package apilog

import (
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout/logfile"
)

// sessionOfUser takes the session out of Anthropic's metadata.user_id, where
// Claude Code puts it: behind "_session_", or as a member of JSON in the string.
func sessionOfUser(metadata jsontext.Value) string {
	user := decode[struct {
		UserID logfile.Lenient[string] `json:"user_id"`
	}](metadata).UserID.V
	if _, id, ok := strings.Cut(user, "_session_"); ok {
		return id
	}
	return sessionMember(jsontext.Value(user))
}

// sessionMember is the session that an object of metadata names; "" none.
func sessionMember(raw jsontext.Value) string {
	if raw.Kind() != '{' {
		return ""
	}
	m := decode[struct {
		Session  logfile.Lenient[string] `json:"session_id"`
		Camel    logfile.Lenient[string] `json:"sessionId"`
		LiteLLM  logfile.Lenient[string] `json:"litellm_session_id"`
		Helicone logfile.Lenient[string] `json:"Helicone-Session-Id"`
		User     jsontext.Value          `json:"user_id"`
	}](raw)
	return first(m.Session.V, m.Camel.V, m.LiteLLM.V, m.Helicone.V)
}

// sessionHeader matches the names under which clients send the ID of a session.
var sessionHeader = regexp.MustCompile(`(?i)(^|[-_])(session|conversation|thread)([-_]id)?$`)

// sessionOfHeaders is the session that the headers of a request name: an object
// of names and values, or HAR's list of both.
func sessionOfHeaders(raw jsontext.Value) string {
	if raw.Kind() == '[' {
		for _, h := range decode[[]struct {
			Name  string `json:"name"`
			Value string `json:"value"`
		}](raw) {
			if namesSession(h.Name) {
				return h.Value
			}
		}
		return ""
	}
	best := ""
	for name, value := range decode[map[string]jsontext.Value](raw) {
		// The order of a map is none: of several names the first by alphabet counts.
		if s := str(value); s != "" && namesSession(name) && (best == "" || name < best) {
			best = name
		}
	}
	if best == "" {
		return ""
	}
	return str(decode[map[string]jsontext.Value](raw)[best])
}

func namesSession(header string) bool {
	return sessionHeader.MatchString(header) && !strings.Contains(strings.ToLower(header), "parent")
}
