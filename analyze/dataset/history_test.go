package dataset

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/rollout"
)

// A line of these logs is a number: the request of that response, with a text and a
// usage of its own. With a ! the log lost the usage, with a ? the text.
func readNumbers(path string) func(context.Context) ([]*rollout.Session, error) {
	return func(context.Context) ([]*rollout.Session, error) {
		raw, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
		b := rollout.NewBuilder("codex")
		b.Session.ID, b.Session.File = lines[0], path
		chain := b.Chain()
		for _, line := range lines[1:] {
			var n int64
			fmt.Sscan(strings.Trim(line, "!?"), &n)
			if !strings.Contains(line, "?") {
				chain.Add(rollout.SlotConversation, b.Item(rollout.Item{
					Kind: rollout.UserText, Role: rollout.RoleUser, Origin: rollout.Logged, Request: -1, Text: b.Text(fmt.Sprint("text ", n)),
				}))
			}
			r := rollout.Request{ID: fmt.Sprint("response-", n), Kind: rollout.KindTurn, Run: 1, Attempt: 1, Base: -1, Status: rollout.Answered, Model: "gpt-5"}
			if !strings.Contains(line, "!") {
				r.Usage = rollout.Usage{Input: &n, Output: &n}
			}
			chain.Request(r)
		}
		return []*rollout.Session{b.Finish()}, nil
	}
}

// folder is a folder of such logs to which things happen.
type folder struct {
	t      *testing.T
	dir    string
	random *rand.Rand
	files  map[string][]string // lines by name
	next   int
}

// happen does one thing to one log.
func (f *folder) happen() string {
	names := sortedKeys(f.files)
	name, other := names[f.random.IntN(len(names))], fmt.Sprint("log", f.random.IntN(4))
	lines := append([]string{}, f.files[name]...)
	at := 1 + f.random.IntN(max(len(lines)-1, 1))
	what := f.random.IntN(9)
	switch {
	case what <= 1 || len(lines) < 3:
		f.next++
		f.files[name] = append(lines, fmt.Sprint(f.next))
		return "grew"
	case what == 2:
		f.files[name] = lines[:at+1]
		return "was cut"
	case what == 3:
		lines[at] = strings.Trim(lines[at], "!?") + "!"
	case what == 4:
		lines[at] = strings.Trim(lines[at], "!?") + "?"
	case what == 5:
		lines = append(lines[:at], lines[at+1:]...)
	case what == 6:
		f.files[other], f.files[name] = f.files[name], f.files[other]
		for _, n := range []string{name, other} {
			if f.files[n] == nil {
				delete(f.files, n)
			}
		}
		return "changed places"
	case what == 7:
		f.files[other] = lines
		return "was copied"
	default:
		f.next++
		lines[0] = fmt.Sprint("session-", f.next)
	}
	f.files[name] = lines
	return "was rewritten"
}

// inputs writes the logs down.
func (f *folder) inputs() (inputs []Input) {
	require.NoError(f.t, os.RemoveAll(f.dir))
	for _, name := range sortedKeys(f.files) {
		in := logFile(f.t, f.dir, name, strings.Join(f.files[name], "\n")+"\n")
		in.Read = readNumbers(in.Path)
		inputs = append(inputs, in)
	}
	return inputs
}

// Whatever happens to logs between imports, every text and every usage that was ever
// imported can be read, every log has its part, and an import right after another has
// nothing to do.
func TestWhateverHappensToLogs(t *testing.T) {
	for seed := range uint64(20) {
		f := &folder{t: t, dir: filepath.Join(t.TempDir(), "logs"), random: rand.New(rand.NewPCG(seed, 1)), files: map[string][]string{"log0": {"session-0", "0"}}}
		dir := t.TempDir()
		texts, usage := map[string]bool{}, map[string]bool{}
		var story []string
		for range 12 {
			story = append(story, f.happen())
			if f.random.IntN(3) == 0 {
				continue
			}
			for _, lines := range f.files {
				for _, line := range lines[1:] {
					n := strings.Trim(line, "!?")
					texts["text "+n] = texts["text "+n] || !strings.Contains(line, "?")
					usage[n] = usage[n] || !strings.Contains(line, "!")
				}
			}
			inputs := f.inputs()
			story = append(story, "import")
			switch f.random.IntN(8) {
			case 0:
				require.NoError(t, compact(t.Context(), dirOf(t, dir), usual))
				story = append(story, "after a merge")
			case 1:
				require.NoError(t, os.RemoveAll(filepath.Join(dir, "_state")))
				story = append(story, "without notes")
			}
			sum, err := Import(t.Context(), dir, inputs, Options{Scratch: true})
			require.NoError(t, err)
			again, err := Import(t.Context(), dir, inputs, Options{Scratch: true})
			require.NoError(t, err)
			assert.Equal(t, Summary{Unchanged: len(inputs)}, counts(again), "seed %d: %v", seed, story)
			assert.Equal(t, sum.Parts, again.Parts, "seed %d: %v", seed, story)
			assertHeld(t, dir, sum.Parts, texts, usage)
			if t.Failed() {
				t.Fatalf("seed %d: %v, files %v", seed, story, f.files)
			}
		}
	}
}

// dirOf makes sure that there is a dataset to merge.
func dirOf(t *testing.T, dir string) string {
	if !Is(dir) {
		importInto(t, dir)
	}
	return dir
}

func assertHeld(t *testing.T, dir string, wanted []string, texts, usage map[string]bool) {
	t.Helper()
	held, err := (&store{inside: inside{dir: dir}}).partNames()
	require.NoError(t, err)
	for _, p := range wanted {
		assert.True(t, held[p], "part %s of a log", p)
	}
	found := map[string]bool{}
	for _, row := range all[Text](t, dir, "texts") {
		found[row.Text] = found[row.Text] || held[row.Part]
	}
	for text, there := range texts {
		assert.False(t, there && !found[text], "%s is gone", text)
	}
	for _, r := range all[Request](t, dir, "requests") {
		if held[r.Part] && r.InputTokens != nil {
			found[fmt.Sprint(*r.InputTokens)] = true
		}
	}
	for n, there := range usage {
		assert.False(t, there && !found[n], "usage of %s is gone", n)
	}
}
