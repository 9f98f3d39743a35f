package detour

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fclog/fclog/compress"
	"github.com/fclog/fclog/rollout"
)

// Every case begins with the call in question; the turns after it hold one call each.
func TestClassify(t *testing.T) {
	paged := act{tool: "output", recover: "call-7"}
	stored := sh("make").truncated()
	stored.handle = "call-7"
	polled := sh("tail -5 out.log")
	polled.poll = rollout.PollProgress
	limit := func(n int) act {
		a := sh("npm test").truncated()
		a.args = map[string]any{"command": "npm test", "max_output_tokens": n}
		return a
	}
	cases := []struct {
		name  string
		first act
		later []act
		want  Outcome
	}{
		{"nothing follows", sh("make").truncated(), nil, Nothing},
		{"another range of the file", readFile("/p/a.go", "").truncated(), []act{readFile("/p/a.go", "200:100")}, Recovered},
		{"the same range", readFile("/p/a.go", "1:100").truncated(), []act{readFile("/p/a.go", "1:100")}, Rerun},
		{"another file", readFile("/p/a.go", "").truncated(), []act{readFile("/p/b.go", "200:100")}, Nothing},
		{"another range after an edit", readFile("/p/a.go", "").truncated(), []act{edit("/p/a.go"), readFile("/p/a.go", "200:100")}, Rerun},
		{"another range after an edit of another file", readFile("/p/a.go", "").truncated(), []act{edit("/p/b.go"), readFile("/p/a.go", "200:100")}, Recovered},
		{"third request", readFile("/p/a.go", "").truncated(), []act{sh("ls"), sh("date"), readFile("/p/a.go", "200:100")}, Recovered},
		{"fourth request", readFile("/p/a.go", "").truncated(), []act{sh("ls"), sh("date"), sh("id"), readFile("/p/a.go", "200:100")}, Nothing},
		{"cat, then a range", sh("cat src/a.go").truncated(), []act{sh("sed -n '80,200p' src/a.go")}, Recovered},
		{"relative and absolute path", sh("cat src/a.go").truncated(), []act{readFile("/p/src/a.go", "80:20")}, Recovered},
		{"file of the same name elsewhere", sh("cat src/a.go").truncated(), []act{sh("sed -n '80,200p' lib/a.go")}, Nothing},
		{"search in the file", sh("nl -ba tasks.md").truncated(), []act{sh(`rg -n "Phase 4" tasks.md`)}, Recovered},
		{"one file of several", sh("cd /p && sed -n '1,90p' a.py && sed -n '1,90p' b.py").truncated(), []act{sh("sed -n '40,60p' b.py")}, Recovered},
		{"a file that find showed", sh(`find src -name '*.go' -exec cat {} \;`).truncated(), []act{sh("head -50 src/x/a.go")}, Recovered},
		{"counting its lines", sh("cat a.go").truncated(), []act{sh("wc -l a.go")}, Nothing},
		{"the command again", sh("npm test").truncated(), []act{sh("npm test")}, Rerun},
		{"the command again after an edit", sh("npm test").truncated(), []act{edit("/p/a.go"), sh("npm test")}, Rerun},
		{"a narrower run", sh("npm test 2>&1").truncated(), []act{sh("npm test 2>&1 | tail -50")}, Recovered},
		{"a narrower run after an edit", sh("npm test 2>&1").truncated(), []act{edit("/p/a.go"), sh("npm test 2>&1 | tail -50")}, Rerun},
		{"another filter", sh("git show x:f.json 2>/dev/null | head -50").truncated(), []act{sh("git show x:f.json | grep -o name | sort")}, Recovered},
		{"another object", sh("git show x:f.json | head -50").truncated(), []act{sh("git show y:f.json | head -50")}, Nothing},
		{"one path of a diff", sh("git diff").truncated(), []act{sh("git diff -- a.go")}, Recovered},
		{"another test run", sh("npm test").truncated(), []act{sh("git status")}, Nothing},
		{"with a larger limit", limit(1000), []act{limit(5000)}, Recovered},
		{"with the same limit", limit(1000), []act{limit(1000)}, Rerun},
		{"narrower pattern", sh(`rg -n "codex" -g"*"`).truncated(), []act{sh(`rg -n "codex-1" -g"*.py"`)}, Recovered},
		{"narrower pattern of a search tool", grep("git.*commit|GitCommit", "/p/t").truncated(), []act{grep(`func GitCommit`, "/p/t")}, Recovered},
		{"wider place", grep("GitCommit", "/p/t/a.go").truncated(), []act{grep("GitCommit", "/p")}, Nothing},
		{"smaller place", grep("GitCommit", "/p/t").truncated(), []act{grep("GitCommit", "/p/t/sub")}, Recovered},
		{"another word", grep("GitCommit", "/p/t").truncated(), []act{grep("Rewind", "/p/t")}, Nothing},
		{"only a keyword in common", grep("func Commit", "/p/t").truncated(), []act{grep("func Rewind", "/p/t")}, Nothing},
		{"wider pattern", grep(`SaveChanges"`, "/p/t").truncated(), []act{grep("SaveChanges", "/p/t")}, Rerun},
		{"paging the stored output", stored, []act{paged}, Recovered},
		{"paging another output", sh("make").truncated(), []act{paged}, Nothing},
		{"waiting for more of a log", sh("sleep 5 && tail -5 out.log").truncated(), []act{sh("sleep 9 && tail -50 out.log")}, Rerun},
		{"an empty result, once more", sh("./check").gave(""), []act{sh("./check")}, Rerun},
		{"an empty result, in a loop", sh("./check").gave(""), []act{sh("./check"), sh("./check"), sh("./check")}, Rerun},
		{"a filter's few lines, without the filter", sh("go test ./... | tail -1").gave("FAIL"), []act{sh("go test ./...")}, Recovered},
		{"a filter's few lines, with more of them", sh("go test ./... | tail -1").gave("FAIL"), []act{sh("go test ./... | tail -80")}, Recovered},
		{"a search that found nothing, wider", grep("GitCommit", "/p/t/a.go").gave(""), []act{grep("GitCommit", "/p")}, Nothing},
		{"whole outputs too", sh("grep -i error app.log | tail"), []act{sh("tail -30 app.log")}, Recovered},
	}
	for _, c := range cases {
		turns := []turn{{calls: []act{c.first}}}
		for _, a := range c.later {
			turns = append(turns, turn{calls: []act{a}})
		}
		h := newHistory(sessionOf(t, "s", "task", append(turns, turn{said: "done"})...))
		assert.Equal(t, c.want, h.classify(0), c.name)
	}
}

func TestCallsOfTheSameResponseAreNoRecovery(t *testing.T) {
	s := sessionOf(t, "s", "task", turn{calls: []act{sh("cat a.go").truncated(), sh("sed -n '80,200p' a.go")}}, turn{said: "done"})
	assert.Equal(t, Nothing, newHistory(s).classify(0))
}

func TestPipelines(t *testing.T) {
	cases := map[string][]pipeline{
		"":                                  nil,
		"cd x && make 2>&1 | tail -5":       {{{"make"}, {"tail", "-5"}}},
		"a; b || c":                         {{{"a"}}, {{"b"}}, {{"c"}}},
		`grep "a|b; c" x > out.txt`:         {{{"grep", "a|b; c", "x", ">", "out.txt"}}},
		"FOO=1 sudo timeout 5s go test":     {{{"go", "test"}}},
		"bash -lc 'cat a.go'":               {{{"cat", "a.go"}}},
		"cat a 2>/dev/null |& wc":           {{{"cat", "a"}, {"wc"}}},
		"sed -n '1,5p' a\nsed -n '6,9p' a":  {{{"sed", "-n", "1,5p", "a"}}, {{"sed", "-n", "6,9p", "a"}}},
		"echo hi && /usr/bin/head -n 3 f":   {{{"head", "-n", "3", "f"}}},
		`rg "unclosed`:                      {{{"rg", "unclosed"}}},
		"sleep 3 && tail -5 out & true":     {{{"tail", "-5", "out"}}},
		`find . -exec cat {} \; | head -50`: {{{"find", ".", "-exec", "cat", "{}", ";"}, {"head", "-50"}}},
	}
	for command, want := range cases {
		if command == `grep "a|b; c" x > out.txt` {
			want = []pipeline{{{"grep", "a|b; c", "x", "out.txt"}}}
		}
		assert.Equal(t, want, pipelines(command), command)
	}
}

func TestKindOf(t *testing.T) {
	cases := map[string]compress.Kind{
		"cat a.go":                         compress.Source,
		"cd x && cat a.go":                 compress.Source,
		"cd x && sed -n '1,9p' a && cat b": compress.Source,
		`rg "a b" src`:                     compress.Search,
		"cd x && npm test 2>&1":            compress.Log,
		"git status":                       compress.Other,
		"":                                 compress.Other,
	}
	for command, want := range cases {
		s := sessionOf(t, "s", "task", turn{calls: []act{sh(command)}}, turn{said: "done"})
		assert.Equal(t, want, kindOf(s, s.Calls[0]), command)
	}
	s := sessionOf(t, "s", "task", turn{calls: []act{readFile("/a", ""), grep("x", "/")}}, turn{said: "done"})
	assert.Equal(t, compress.Source, kindOf(s, s.Calls[0]))
	assert.Equal(t, compress.Search, kindOf(s, s.Calls[1]))
}

func FuzzShellLooks(f *testing.F) {
	f.Add(`cd x && sed -n '1,5p' a | grep -v "b" > c; find . -exec cat {} \;`)
	f.Add("bash -lc \"cat 'a' | head\" ||")
	f.Fuzz(func(t *testing.T, command string) {
		for _, l := range shellLooks(command) {
			if l.kind == runLook && len(l.words) == 0 {
				t.Fatal("a command without words")
			}
		}
	})
}
