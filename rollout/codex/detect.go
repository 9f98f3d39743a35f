package codex

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout/logfile"
)

// envelopeTypes are the record types whose payload marks a Codex rollout.
var envelopeTypes = []string{typeMeta, typeItem, typeEvent, typeContext, typeCompact, typeUsage}

type bareMeta struct {
	ID           logfile.Lenient[string] `json:"id"`
	Timestamp    logfile.Lenient[string] `json:"timestamp"`
	Instructions jsontext.Value          `json:"instructions"`
	Git          jsontext.Value          `json:"git"`
	Type         jsontext.Value          `json:"type"`
}

// Detect says whether the first records of a file are a Codex rollout.
func Detect(head [][]byte) bool {
	for i, raw := range head {
		var env envelope
		if logfile.Unmarshal(raw, &env) != nil {
			continue
		}
		if slices.Contains(envelopeTypes, env.Type.V) && env.Payload.Kind() == '{' {
			return true
		}
		if i == 0 && isBareMeta(raw) {
			return true
		}
	}
	return false
}

// isBareMeta recognises the first line of files before the envelope.
func isBareMeta(raw []byte) bool {
	m := decode[bareMeta](raw)
	return m.ID.OK && m.Timestamp.OK && len(m.Type) == 0 && (len(m.Instructions) > 0 || len(m.Git) > 0)
}

// Companions returns nil: sub-agents of Codex are files like any other.
func Companions(string) []string { return nil }

// Depends names the log of the thread a file's history was copied from, when it
// lies in the same folder: its usage figures help to tell the copy from what is
// the file's own.
func Depends(path string) []string {
	r, err := logfile.Open(path)
	if err != nil {
		return nil
	}
	defer r.Close()
	f := &facts{}
	for n := 0; n < headRecords && r.Next(); n++ {
		if rec, ok := parseRecord(r.Record()); ok && rec.typ == typeMeta {
			f.metas = append(f.metas, metaAt{decode[meta](rec.payload), n})
		}
	}
	if parent := parentFile(path, f.forkedFrom()); parent != "" {
		return []string{parent}
	}
	return nil
}

// headRecords is how far into a file the metadata of a copied history stands.
const headRecords = 50

// parentFile finds the log of a thread beside path; Codex puts the thread's ID
// into the file name.
func parentFile(path, thread string) string {
	if thread == "" {
		return ""
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return ""
	}
	for _, e := range entries {
		if strings.Contains(e.Name(), thread) && e.Name() != filepath.Base(path) {
			return filepath.Join(filepath.Dir(path), e.Name())
		}
	}
	return ""
}

// Homes lists the folders where Codex keeps its rollouts.
func Homes(getenv func(string) string) []string {
	home := getenv("CODEX_HOME")
	if home == "" {
		user := first(getenv("HOME"), getenv("USERPROFILE"))
		if user == "" {
			return nil
		}
		home = filepath.Join(user, ".codex")
	}
	return []string{filepath.Join(home, "sessions"), filepath.Join(home, "archived_sessions")}
}
