package opencode

import (
	"bytes"
	"regexp"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout/logfile"
)

// isSessionID reports whether an ID has the form OpenCode gives its sessions.
func isSessionID(id string) bool { return sessionID.MatchString(id) }

var sessionID = regexp.MustCompile(`^ses_\w+$`)

// Detect says whether the first record of a file is an exported session or the
// session file of a storage tree. A record may be a document of many megabytes:
// only its first keys are looked at.
func Detect(head [][]byte) bool {
	return len(head) > 0 && (isExport(head[0]) || isTreeSession(head[0]))
}

// isExport finds a session under `info` and a list under `messages`.
func isExport(raw []byte) bool {
	dec := jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != '{' {
		return false
	}
	session, messages := false, false
	for dec.PeekKind() == '"' && !(session && messages) {
		tok, err := dec.ReadToken()
		if err != nil {
			return false
		}
		switch tok.String() {
		case "info":
			value, err := dec.ReadValue()
			if err != nil {
				return false
			}
			info, ok := decode[sessionInfo](value)
			if session = ok && isSessionID(info.ID.V); !session {
				return false
			}
			continue
		case "messages":
			if messages = dec.PeekKind() == '['; !messages || session {
				return messages && session
			}
		}
		if dec.SkipValue() != nil {
			return false
		}
	}
	return session && messages
}

// isTreeSession recognises a session file: its own ID, a project and times.
func isTreeSession(raw []byte) bool {
	if !bytes.Contains(raw[:min(len(raw), 64<<10)], []byte(`"ses_`)) {
		return false
	}
	var s struct {
		sessionInfo
		Messages jsontext.Value `json:"messages"`
	}
	if logfile.Unmarshal(raw, &s) != nil {
		return false
	}
	return isSessionID(s.ID.V) && s.ProjectID.OK && s.Time.OK && s.Time.V.Created.OK && len(s.Messages) == 0
}
