package claudecode

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fclog/fclog/internal/smallfile"
	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// Read reads one transcript file: the main session, then the sub-agents whose
// lines it holds, inline or in progress lines. A sub-agent's own file is read by
// a call of its own and yields the same session ID.
func Read(ctx context.Context, path string) ([]*rollout.Session, error) {
	f, err := load(ctx, path)
	if err != nil {
		return nil, err
	}
	meta := readMeta(path)
	var sessions []*rollout.Session
	for _, c := range f.mainFirst() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		rb := newRebuild(f, c)
		rb.requests()
		if meta != nil && c.agent != "" && strings.HasSuffix(stem(path), c.agent) {
			rb.s.Agent, rb.s.ParentCall = firstOf(meta.Type.V, rb.s.Agent), firstOf(meta.Call.V, rb.s.ParentCall)
		}
		s, err := rb.finish()
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", path, err)
		}
		sessions = append(sessions, s)
	}
	linkChildren(sessions)
	sessions[0].Records += f.aside
	sessions[0].Problems = slices.Concat(f.problems, f.foldedProblems(), sessions[0].Problems)
	return sessions, nil
}

// mainFirst lists the conversations with the main one in front. Of a sub-agent
// with lines of its own the copies in progress lines are left out.
func (f *file) mainFirst() []*conversation {
	var out []*conversation
	for _, c := range f.convs {
		own := f.byAgent[c.agent]
		switch {
		case c == f.byAgent[""] && len(c.lines) == 0 && len(f.convs) > 1:
		case own != nil && own != c && c == f.byAgent[progressKey+c.agent] && len(own.lines) > 0:
		default:
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b *conversation) int { return strings.Compare(rank(a), rank(b)) })
	return out
}

func rank(c *conversation) string {
	if c.agent == "" {
		return "0"
	}
	return "1"
}

// linkChildren ties the side chains of one file to the calls that started them:
// by the call a progress line names, else by the prompt they begin with.
func linkChildren(sessions []*rollout.Session) {
	main := sessions[0]
	byPrompt := map[string]int{}
	byID := map[string]int{}
	for i, c := range main.Calls {
		byID[c.ID] = i
		if c.Class == rollout.AgentTool && c.Child == "" {
			var in callInput
			unmarshal([]byte(main.Texts[c.Args].S), &in)
			byPrompt[in.Prompt.V] = i
		}
	}
	for _, s := range sessions[1:] {
		i, ok := byID[s.ParentCall]
		if !ok {
			i, ok = byPrompt[firstPrompt(s)]
		}
		if ok {
			s.ParentCall = main.Calls[i].ID
			main.Calls[i].Child = firstOf(main.Calls[i].Child, s.ID)
		}
	}
}

func firstPrompt(s *rollout.Session) string {
	for _, it := range s.Items {
		if it.Kind == rollout.UserText {
			return s.Texts[it.Text].S
		}
	}
	return ""
}

// agentMeta is what stands beside a sub-agent's file.
type agentMeta struct {
	Type logfile.Lenient[string] `json:"agentType"`
	Call logfile.Lenient[string] `json:"toolUseId"`
}

// maxMeta bounds the file beside a sub-agent's, which holds a few words.
const maxMeta = 1 << 20

func metaPath(path string) string {
	return filepath.Join(filepath.Dir(path), stem(path)+".meta.json")
}

func readMeta(path string) *agentMeta {
	raw, err := smallfile.Read(metaPath(path), maxMeta)
	if err != nil {
		return nil
	}
	var m agentMeta
	if logfile.Unmarshal(raw, &m) != nil {
		return nil
	}
	return &m
}

// Depends names the file whose content Read uses besides path.
func Depends(path string) []string {
	if _, err := os.Stat(metaPath(path)); err != nil {
		return nil
	}
	return []string{metaPath(path)}
}

// Companions lists the files of a session's sub-agents: all agent files below
// its own folder, and, from older versions, those beside it that carry its ID.
func Companions(path string) []string {
	name := stem(path)
	if strings.HasPrefix(name, "agent-") {
		return nil
	}
	var out []string
	dir := filepath.Dir(path)
	_ = filepath.WalkDir(filepath.Join(dir, name, "subagents"), func(p string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && isAgentFile(d.Name()) {
			out = append(out, p)
		}
		return nil
	})
	beside, _ := filepath.Glob(filepath.Join(globEscape(dir), "agent-*.jsonl*"))
	for _, p := range beside {
		if !isAgentFile(filepath.Base(p)) {
			continue
		}
		if id := headSession(p); id != "" && (id == name || id == headSession(path)) {
			out = append(out, p)
		}
	}
	return out
}

// isAgentFile leaves backups and journals out.
func isAgentFile(name string) bool {
	_, ext, _ := strings.Cut(name, ".")
	return strings.HasPrefix(name, "agent-") && (ext == "jsonl" || ext == "jsonl.gz" || ext == "jsonl.zst")
}

func globEscape(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// headSession is the session ID of the first record that has one.
func headSession(path string) string {
	r, err := logfile.Open(path)
	if err != nil {
		return ""
	}
	defer r.Close()
	for n := 0; n < 20 && r.Next(); n++ {
		var rec struct {
			Session logfile.Lenient[string] `json:"sessionId"`
		}
		if logfile.Unmarshal(r.Record(), &rec) == nil && rec.Session.V != "" {
			return rec.Session.V
		}
	}
	return ""
}

// Homes lists the folders where Claude Code keeps its transcripts.
func Homes(getenv func(string) string) []string {
	if dir := getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		return []string{filepath.Join(dir, "projects")}
	}
	var homes []string
	if home := getenv("HOME"); home != "" {
		homes = append(homes, filepath.Join(home, ".claude", "projects"))
	}
	config := getenv("XDG_CONFIG_HOME")
	if config == "" && getenv("HOME") != "" {
		config = filepath.Join(getenv("HOME"), ".config")
	}
	if config != "" {
		homes = append(homes, filepath.Join(config, "claude", "projects"))
	}
	return homes
}

// Detect says whether the first records of a file are a Claude Code transcript:
// lines of its tree, or bookkeeping lines as it writes them.
func Detect(head [][]byte) bool {
	for _, raw := range head {
		var rec struct {
			Type    logfile.Lenient[string] `json:"type"`
			UUID    logfile.Lenient[string] `json:"uuid"`
			Session logfile.Lenient[string] `json:"sessionId"`
			Leaf    logfile.Lenient[string] `json:"leafUuid"`
			Message logfile.Lenient[string] `json:"messageId"`
			Sum     logfile.Lenient[string] `json:"summary"`
		}
		if len(raw) == 0 || raw[0] != '{' || logfile.Unmarshal(raw, &rec) != nil {
			continue
		}
		switch typ := rec.Type.V; {
		case treeTypes[typ] && rec.UUID.V != "" && rec.Session.V != "",
			typ == "summary" && rec.Leaf.V != "" && rec.Sum.V != "",
			typ == "file-history-snapshot" && rec.Message.V != "",
			typ != "summary" && typ != "mode" && bookkeeping[typ] && rec.Session.V != "",
			strings.HasPrefix(typ, "api-request") && rec.Session.V != "":
			return true
		}
	}
	return false
}
