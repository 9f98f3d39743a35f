package measure

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/fclog/fclog/compress"
	"github.com/fclog/fclog/rollout"
)

// measureCalls finds the keys, kinds, batches and repeats of the calls.
func measureCalls(s *rollout.Session) []CallFacts {
	out := make([]CallFacts, len(s.Calls))
	batch := map[int]int64{}
	for _, c := range s.Calls {
		batch[c.Request]++
	}
	for i, c := range s.Calls {
		args := s.Texts[c.Args].S
		hash, key := ArgsKeys(c, args)
		out[i] = CallFacts{
			ArgsHash:       hash,
			ArgsKey:        key,
			BatchSize:      1,
			RepeatOf:       -1,
			StrictRepeatOf: -1,
		}
		if c.Request >= 0 {
			out[i].BatchSize = batch[c.Request]
		}
		if c.Class == rollout.ShellTool {
			out[i].OutputKind = compress.Classify(c.Command)
		}
	}
	markRepeats(s, out)
	markStrictRepeats(s, out)
	return out
}

// ArgsKeys are the ArgsHash and ArgsKey of a call with these arguments.
func ArgsKeys(c rollout.Call, args string) (sent, canonical string) {
	return hash(c.Tool + ":" + args), hash(c.Tool + ":" + canonicalArgs(c, args))
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// markRepeats applies FreeCode's repeatedCalls: over the whole session, calls that
// ran, in order, by tool and arguments as sent. Unknown arguments never match, and
// calls that a script of another call made do not take part.
func markRepeats(s *rollout.Session, out []CallFacts) {
	first := map[string]int{}
	for i, c := range s.Calls {
		if !c.Ran || c.Inherited || c.Parent != "" || s.Texts[c.Args].Bytes == 0 {
			continue
		}
		if k, seen := first[out[i].ArgsHash]; seen {
			out[i].RepeatOf = k
			continue
		}
		first[out[i].ArgsHash] = i
	}
}

// markStrictRepeats links a call to the latest one of its chain with the same
// canonical arguments, unless a call that may have changed files or state, or a
// compaction, stands between. Polls and to-do lists are made to be repeated and
// are left out.
func markStrictRepeats(s *rollout.Session, out []CallFacts) {
	type key struct {
		chain int
		args  string
	}
	latest := map[key]int{}
	compactions := compactionsOf(s)
	for i, c := range s.Calls {
		if c.Inherited {
			continue
		}
		for len(compactions) > 0 && compactions[0] <= c.Request {
			clear(latest)
			compactions = compactions[1:]
		}
		if !c.Ran {
			continue
		}
		k := key{args: out[i].ArgsKey}
		if c.Request >= 0 {
			k.chain = s.Requests[c.Request].Chain
		}
		repeatable := c.Class != rollout.PollTool && c.Class != rollout.TodoTool && s.Texts[c.Args].Bytes > 0
		if before, ok := latest[k]; ok && repeatable {
			out[i].StrictRepeatOf = before
		}
		if mayMutate(c) {
			clear(latest)
		}
		if repeatable {
			latest[k] = i
		}
	}
}

// mayMutate is true for edits and for every shell command that is not known to
// only look.
func mayMutate(c rollout.Call) bool {
	return c.Mutates || c.Class == rollout.ShellTool && !c.ReadOnly
}

// compactionsOf lists, in order, the requests before which the conversation was
// summarised.
func compactionsOf(s *rollout.Session) []int {
	summary := map[place]bool{}
	for _, sp := range s.Spans {
		if s.Items[sp.Item].Kind == rollout.Summary {
			summary[place{sp.Chain, sp.First}] = true
		}
	}
	var out []int
	for i, r := range s.Requests {
		if r.Kind == rollout.KindCompaction || summary[place{r.Chain, r.Number}] {
			out = append(out, i)
		}
	}
	return out
}
