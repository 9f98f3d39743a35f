package gemini

import (
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/fclog/fclog/internal/smallfile"
	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// Homes lists the folder where Gemini CLI keeps its data.
func Homes(getenv func(string) string) []string {
	home := getenv("GEMINI_CLI_HOME")
	if home == "" {
		home = getenv("HOME")
	}
	if home == "" {
		home = getenv("USERPROFILE")
	}
	if home == "" {
		return nil
	}
	return []string{filepath.Join(home, ".gemini", "tmp")}
}

// Companions lists the chats of the sub-agents a session started: they lie in a
// folder named after it beside its file.
func Companions(path string) []string {
	id := sessionID(path)
	if id == "" || id != filepath.Base(id) {
		return nil
	}
	dir := filepath.Join(filepath.Dir(path), id)
	names, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var out []string
	for _, n := range names {
		if ext := filepath.Ext(n.Name()); !n.IsDir() && (ext == ".jsonl" || ext == ".json") {
			out = append(out, filepath.Join(dir, n.Name()))
		}
	}
	sort.Strings(out)
	return out
}

// Depends lists what Read uses beside the chat: the file that names the project's
// folder and, of a sub-agent, the chats of the session that started it.
func Depends(path string) []string {
	var out []string
	for _, root := range rootFiles(path) {
		if _, err := os.Stat(root); err == nil {
			out = append(out, root)
			break
		}
	}
	return append(append(out, parentFiles(path)...), outputs(path)...)
}

// outputs lists the stored whole outputs of a session's cut results.
func outputs(path string) []string {
	id := sessionID(path)
	if id == "" || id != filepath.Base(id) {
		return nil
	}
	found, err := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(path)), "tool-outputs", "session-"+glob.Replace(id), "*"))
	if err != nil {
		return nil
	}
	return found
}

const (
	// maxOutput bounds what is read of a stored output: none that an agent stores is near it.
	maxOutput = 64 << 20
	// maxRoot bounds the name of a project's folder, which is a path.
	maxRoot = 4095
)

// whole finds the stored output of a cut result. The log names it as the machine
// it was written on did; it is looked for beside this copy of the chats.
func (c *chat) whole(call *rollout.Call) {
	parts := strings.Split(strings.ReplaceAll(call.Handle, "\\", "/"), "/")
	n := len(parts)
	if n < 3 || parts[n-3] != "tool-outputs" || parts[n-1] == ".." || parts[n-2] == ".." {
		return
	}
	data, err := smallfile.Read(filepath.Join(filepath.Dir(filepath.Dir(c.path)), "tool-outputs", parts[n-2], parts[n-1]), maxOutput)
	if err != nil {
		return
	}
	clean, _ := logfile.ValidUTF8(data)
	text := c.b.Text(string(clean))
	call.Full = &text
}

// sessionID is the ID a chat's header names.
func sessionID(path string) string {
	head, err := logfile.Head(path, 1)
	if err != nil {
		return ""
	}
	var h struct {
		SessionID text `json:"sessionId"`
	}
	if logfile.Unmarshal(head[0], &h) != nil {
		return ""
	}
	return h.SessionID.V
}

// rootFiles are the places of the file that names the project's folder: above the
// chats of a session, and above those of its sub-agents.
func rootFiles(path string) []string {
	dir := filepath.Dir(filepath.Dir(path))
	return []string{filepath.Join(dir, ".project_root"), filepath.Join(filepath.Dir(dir), ".project_root")}
}

func projectRoot(path string) string {
	for _, name := range rootFiles(path) {
		if data, err := smallfile.Read(name, maxRoot); err == nil {
			clean, _ := logfile.ValidUTF8(data)
			return strings.TrimSpace(string(clean))
		}
	}
	return ""
}

// parentFiles are the chats of the session after which a sub-agent's folder is
// named.
func parentFiles(path string) []string {
	id := filepath.Base(filepath.Dir(path))
	if len(id) < 8 || id == "chats" {
		return nil
	}
	found, err := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(path)), "session-*-"+glob.Replace(id[:8])+".json*"))
	if err != nil {
		return nil
	}
	return found
}

// glob takes what has a meaning in patterns out of a name.
var glob = strings.NewReplacer("*", "?", "[", "?", "\\", "?")

// parent ties a sub-agent to the session and the call that started it.
func parent(s *rollout.Session) {
	id := filepath.Base(filepath.Dir(s.File))
	for _, path := range parentFiles(s.File) {
		if sessionID(path) != id {
			continue
		}
		s.ParentID = id
		if call, agent, ok := starter(path, s.ID); ok {
			s.ParentCall, s.Agent = call, agent
			return
		}
	}
}

// starter finds the call of a chat that started a sub-agent, and the agent's name.
func starter(path, child string) (call, agent string, ok bool) {
	f, err := logfile.Open(path)
	if err != nil {
		return "", "", false
	}
	defer f.Close()
	for f.Next() {
		var r record
		if logfile.Unmarshal(f.Record(), &r) != nil {
			continue
		}
		for _, m := range append(messages(r.Messages.V), r.message) {
			if call, agent, ok := starts(&m, child); ok {
				return call, agent, true
			}
		}
	}
	return "", "", false
}

func starts(m *message, child string) (call, agent string, ok bool) {
	for _, raw := range m.ToolCalls.V {
		var t toolCall
		if logfile.Unmarshal(raw, &t) != nil || t.AgentID.V != child {
			continue
		}
		var a struct {
			Name text `json:"agent_name"`
		}
		if logfile.Unmarshal(t.Args, &a) != nil || a.Name.V == "" {
			a.Name.V = t.Name.V
		}
		return t.ID.V, a.Name.V, true
	}
	return "", "", false
}
