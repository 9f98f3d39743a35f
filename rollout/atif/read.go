package atif

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// maxFile is the largest trajectory read, in bytes after unpacking: a document is
// read whole.
const maxFile = 1 << 30

// Read reads one trajectory file: the run's session first, then those of the
// sub-agents whose trajectories are embedded in it.
func Read(ctx context.Context, path string) ([]*rollout.Session, error) {
	data, problems, err := content(path)
	if err != nil {
		return nil, err
	}
	f := &file{ctx: ctx, path: path, ids: map[string]bool{}, read: map[[sha256.Size]byte]bool{}}
	for p := newParser(data); ; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		line := p.line
		d, broken := p.next()
		if broken != nil && !errors.Is(broken, io.EOF) {
			problems = append(problems, damage(path, line, broken))
		}
		if d != nil && strings.HasPrefix(d.Schema.V, schemaPrefix) && f.first(p.last()) {
			f.document(d, nil)
		}
		if broken != nil {
			break
		}
	}
	if len(f.sessions) == 0 {
		return nil, fmt.Errorf("%s: %w: it holds no ATIF trajectory", path, logfile.ErrNotLog)
	}
	f.sessions[0].Problems = append(problems, f.sessions[0].Problems...)
	for _, s := range f.sessions {
		if err := rollout.Check(s); err != nil {
			return nil, fmt.Errorf("atif reader: %w", err)
		}
	}
	return f.sessions, ctx.Err()
}

// content is the text of a file as valid UTF-8, and what had to be mended.
func content(path string) ([]byte, []rollout.Problem, error) {
	in, err := logfile.Content(path)
	if err != nil {
		return nil, nil, err
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, maxFile+1))
	var problems []rollout.Problem
	if err != nil {
		problems = append(problems, rollout.Problem{File: path, Kind: "truncated-file", Count: 1,
			Detail: "the compressed file is damaged or cut off; what stands before that was read"})
	}
	if len(data) > maxFile {
		return nil, nil, fmt.Errorf("%s: larger than %d MB", path, maxFile>>20)
	}
	data = []byte(strings.TrimPrefix(string(data), "\xef\xbb\xbf"))
	if clean := strings.ReplaceAll(string(data), "\x00", ""); len(clean) < len(data) {
		problems = append(problems, rollout.Problem{File: path, Kind: "nul-bytes", Detail: "the file holds NUL bytes, as a crash leaves them; they were skipped", Count: 1})
		data = []byte(clean)
	}
	valid, replaced := logfile.ValidUTF8(data)
	if replaced > 0 {
		problems = append(problems, rollout.Problem{File: path, Kind: "invalid-utf8", Count: 1,
			Detail: fmt.Sprintf("%d invalid byte sequences were replaced by U+FFFD", replaced)})
	}
	return valid, problems, nil
}

func damage(path string, line int, err error) rollout.Problem {
	p := rollout.Problem{File: path, Line: line, Kind: "bad-json", Detail: "the document is not valid JSON; what stands before the fault was read", Count: 1}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		p.Kind, p.Detail = "cut-line", "the document is cut off; what stands before the cut was read"
	}
	return p
}

// file collects the sessions of one file.
type file struct {
	ctx      context.Context
	path     string
	ids      map[string]bool
	read     map[[sha256.Size]byte]bool // documents by their text
	sessions []*rollout.Session
}

// first reports whether a document stands in the file for the first time: files
// put behind each other may hold one twice, which is still one run.
func (f *file) first(document []byte) bool {
	sum := sha256.Sum256(document)
	seen := f.read[sum]
	f.read[sum] = true
	return !seen
}

// caller is where a sub-agent was started.
type caller struct {
	session *rollout.Session
	starts  map[string]int // index of a call by what its result names
}

// document turns a trajectory and those embedded in it into sessions.
func (f *file) document(d *document, parent *caller) {
	w := newWalk(f, d)
	s := w.b.Session
	s.ID = f.unique(sessionID(d))
	if parent != nil {
		parent.adopt(s, d)
	} else {
		f.continued(s, d)
	}
	w.run()
	f.sessions = append(f.sessions, w.b.Finish())
	c := &caller{session: s, starts: w.children}
	for _, child := range d.children {
		f.document(child, c)
	}
}

// sessionID is what a trajectory calls itself. From version 1.7 on the session ID
// is that of the whole run. One without any ID is named by its content.
func sessionID(d *document) string {
	session, trajectory := d.Session.V, d.Trajectory.V
	switch {
	case trajectory == "" && session == "":
		sum := sha256.New()
		for _, s := range d.steps {
			sum.Write(s.raw)
		}
		return "atif-" + hex.EncodeToString(sum.Sum(nil)[:8])
	case trajectory == "" || trajectory == session:
		return session
	case session == "" || strings.HasPrefix(trajectory, session):
		return trajectory
	}
	return session + "/" + trajectory
}

func (f *file) unique(id string) string {
	unique := id
	for n := 2; f.ids[unique]; n++ {
		unique = fmt.Sprintf("%s#%d", id, n)
	}
	f.ids[unique] = true
	return unique
}

// adopt ties a sub-agent to the call that started it.
func (c *caller) adopt(s *rollout.Session, d *document) {
	s.ParentID = c.session.ID
	for _, id := range []string{d.Trajectory.V, d.Session.V} {
		i, ok := c.starts[id]
		if id == "" || !ok {
			continue
		}
		s.ParentCall = c.session.Calls[i].ID
		c.session.Calls[i].Child = s.ID
		return
	}
}

// continued names the session that a continuation file goes on with. Its own ID
// carries the number of the file where the log gives both the same.
func (f *file) continued(s *rollout.Session, d *document) {
	m := continuation.FindStringSubmatch(filepath.Base(f.path))
	if m == nil {
		return
	}
	suffix := "-cont-" + m[1]
	before := ""
	if first := firstFile(f.path); first != "" {
		before = idOf(first)
	}
	if before == "" && !d.Trajectory.OK {
		before = strings.TrimSuffix(s.ID, suffix)
	}
	if before == s.ID {
		s.ID += suffix
	}
	// As a child it counts with what it continues, as one run of the agent.
	s.ForkedFrom, s.ParentID, s.Agent = before, before, "continuation"
}

func idOf(path string) string {
	data, _, err := content(path)
	if err != nil {
		return ""
	}
	d, _ := newParser(data).next()
	if d == nil || !strings.HasPrefix(d.Schema.V, schemaPrefix) {
		return ""
	}
	return sessionID(d)
}

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}
