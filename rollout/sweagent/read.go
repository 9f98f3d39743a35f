package sweagent

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/logfile"
)

// Read returns the session of a trajectory.
func Read(ctx context.Context, path string) ([]*rollout.Session, error) {
	f, err := logfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []*rollout.Session
	for f.Next() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(out) > 0 {
			r := out[0]
			r.Records++
			r.Problems = append(r.Problems, rollout.Problem{File: path, Line: f.Line(), Kind: "unknown-record", Detail: "more stands behind the trajectory; it was counted only", Count: 1})
			continue
		}
		out = append(out, read(path, f))
	}
	if f.Err() != nil {
		return nil, f.Err()
	}
	if len(out) == 0 {
		out = append(out, newRun(path, 0).finish(&document{}))
	}
	out[0].Problems = append(out[0].Problems, f.Problems()...)
	if err := rollout.Check(out[0]); err != nil {
		return nil, err
	}
	return out, nil
}

// read rebuilds the session of one document.
func read(path string, f *logfile.Reader) *rollout.Session {
	r := newRun(path, f.Line())
	r.b.Session.Records = 1
	var d document
	if logfile.Unmarshal(f.Record(), &d) != nil {
		r.fold("bad-record", "the trajectory could not be read")
		return r.finish(&d)
	}
	switch {
	case strings.HasPrefix(d.Format.V, "mini-swe-agent"):
		r.mini(&d)
	case len(d.Attempts.V) > 0:
		r.attempts(&d)
	default:
		r.attempt(&d.trajectory)
	}
	return r.finish(&d)
}

// attempts reads the tries of the retry agent. The trajectory beside them is a
// copy of the best one.
func (r *run) attempts(d *document) {
	for _, raw := range d.Attempts.V {
		var t trajectory
		if logfile.Unmarshal(raw, &t) != nil {
			r.fold("bad-record", "an attempt could not be read; what it held is missing")
			continue
		}
		if t.Replay == nil {
			t.Replay = d.Replay
		}
		r.attempt(&t)
	}
}

// finish closes the session and fills in its own facts.
func (r *run) finish(d *document) *rollout.Session {
	s := r.b.Session
	s.File = r.path
	in := &d.Info.V
	instance, missing := d.Environment.V, []string{"tool definitions", "usage per request", "time stamps", "answers that were rejected and asked for again", "sampling settings"}
	s.AgentVersion = in.Version.V
	if r.guessed {
		missing = append(missing, "what history processors left out")
	}
	if d.Format.OK {
		instance, missing = d.InstanceID.V, []string{"sampling settings"}
		if r.hasTools() {
			missing = append(missing, "tool definitions")
		}
		s.AgentVersion = in.MiniVersion.V
	}
	s.ID, s.Missing = identity(instance, d), missing
	r.reported(&in.Stats)
	return r.b.Finish()
}

// hasTools reports whether any call stood beside the text of its answer. Without,
// no tools were defined.
func (r *run) hasTools() bool {
	return slices.ContainsFunc(r.b.Session.Calls, func(c rollout.Call) bool { return c.ArgsItem >= 0 })
}

// reported takes what the run counted as a whole. Counts of 0 were not counted,
// and a cost of 0 means a model without a price.
func (r *run) reported(l *logfile.Lenient[stats]) {
	if !l.OK {
		return
	}
	st := &l.V
	out := rollout.Reported{Requests: r.tokens(st.Calls), Line: r.line}
	out.Usage.Input, out.Usage.Output = positive(r.tokens(st.Sent)), positive(r.tokens(st.Received))
	if usd := r.usd(st.Cost); usd != nil && *usd > 0 {
		out.CostUSD = usd
	}
	r.b.Session.Reported = append(r.b.Session.Reported, out)
}

func positive(n *int64) *int64 {
	if n == nil || *n == 0 {
		return nil
	}
	return n
}

// Companions is nil: a trajectory is a single file.
func Companions(string) []string { return nil }

// Depends is nil: a trajectory holds all that is read.
func Depends(string) []string { return nil }

// Homes lists where mini-swe-agent writes the trajectories of single runs.
// SWE-agent writes into the folder it was started in.
func Homes(getenv func(string) string) []string {
	if dir := getenv("MSWEA_GLOBAL_CONFIG_DIR"); dir != "" {
		return []string{dir}
	}
	if dir := getenv("XDG_CONFIG_HOME"); dir != "" {
		return []string{filepath.Join(dir, "mini-swe-agent")}
	}
	home := getenv("HOME")
	if home == "" {
		return nil
	}
	return []string{filepath.Join(home, ".config", "mini-swe-agent")}
}
