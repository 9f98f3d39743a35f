package compress

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// labelled is a line of a list of commands in testdata.
type labelled struct {
	command string
	kind    Kind
}

func labels(t testing.TB, file string) []labelled {
	t.Helper()
	f, err := os.Open("testdata/" + file)
	require.NoError(t, err)
	defer f.Close()
	unescape := strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t")
	var out []labelled
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		fields := strings.Split(lines.Text(), "\t")
		require.Len(t, fields, 3, lines.Text())
		require.Contains(t, []Kind{Source, Search, Log, Other}, Kind(fields[1]), lines.Text())
		out = append(out, labelled{unescape.Replace(fields[0]), Kind(fields[1])})
	}
	return out
}

// score counts, per kind, how often it was said, was so, and both.
type score struct{ said, is, both map[Kind]int }

func scored(p Profile, all []labelled) score {
	s := score{map[Kind]int{}, map[Kind]int{}, map[Kind]int{}}
	for _, l := range all {
		got := p.Classify(l.command)
		s.said[got]++
		s.is[l.kind]++
		if got == l.kind {
			s.both[got]++
		}
	}
	return s
}

func share(part, whole int) string {
	if whole == 0 {
		return "–"
	}
	return fmt.Sprintf("%.3f (%d/%d)", float64(part)/float64(whole), part, whole)
}

// TestPrecision prints what both profiles are worth on both lists, and holds the
// careful one to what it promises, on the first list and on all.
func TestPrecision(t *testing.T) {
	first, heldOut := labels(t, "commands.tsv"), labels(t, "commands-heldout.tsv")
	require.GreaterOrEqual(t, len(first), 200)
	for name, list := range map[string][]labelled{"first": first, "held out": heldOut, "all": slices.Concat(first, heldOut)} {
		for _, p := range Profiles() {
			s := scored(p, list)
			for _, k := range []Kind{Source, Search, Log, Other} {
				t.Logf("%-8s %-8s %-6s precision %-16s recall %s", name, p.Name, k, share(s.both[k], s.said[k]), share(s.both[k], s.is[k]))
			}
			for _, k := range []Kind{Source, Search} {
				// The list held out has four commands that print text of files: too few for a share.
				if p.careful && name != "held out" {
					assert.GreaterOrEqual(t, float64(s.both[k]), 0.98*float64(s.said[k]), "precision of %s, %s", k, name)
				}
			}
		}
	}
	reportMisses(t, slices.Concat(first, heldOut))
}

// reportMisses prints what the careful profile takes for something else; text of
// files taken for something that may be shortened is a failure.
func reportMisses(t *testing.T, all []labelled) {
	t.Helper()
	for _, l := range all {
		got := Careful().Classify(l.command)
		if got != l.kind {
			t.Logf("%s, is %s: %q", got, l.kind, l.command)
		}
		if l.kind == Source {
			assert.NotContains(t, []Kind{Search, Log}, got, "text of files would be touched: %q", l.command)
		}
	}
}

func TestClassifyCareful(t *testing.T) {
	cases := map[Kind][]string{
		Source: {
			"sudo cat /etc/hosts", "timeout 5 head -20 a.go", "env A=1 nice -n 5 sed -n 1,5p a", "A=1 B=2 tail a",
			"cd x && cat a", "cat a; echo; cat b", "cat a || true", "make && cat out.txt", "rg foo && sed -n '1,9p' a",
			`bash -lc "cat a.go"`, `sh -c 'cd x && nl -ba a'`, `/bin/bash -euo pipefail -c "cat a"`, `bash -o pipefail -c "cat a"`,
			"bash <<'EOF'\ncd x\ncat a\nEOF", `ssh -p 22 host 'cat a'`, "docker exec -it web cat a", "kubectl exec pod -c web -- cat a",
			"(cd x && cat a)", "{ cat a; }", "for f in *; do cat $f; done", "if [ -f a ]; then cat a; else echo none; fi",
			"while read f; do cat \"$f\"; done < list", "find . -name a -exec cat {} +", "find . -name a | xargs cat",
			"awk 'NR>=3 && NR<=9' a", "awk 'NR==1,NR==5 {print NR\": \"$0}' a", "git --no-pager diff", "git -C x show HEAD:a", "git log -p -3", "git diff -- stat",
			"diff -u a b", "grep -v '^#' a.conf", "grep -n '' a", "grep -A 30 main a.go", "cat <(git show HEAD:a)", "gofmt -d .", "black --diff .",
			`powershell -NoProfile -Command "Get-Content a.txt | Select-Object -First 20"`, `pwsh -c "gc a.txt"`, "Get-Content .\\a.txt -TotalCount 5", "cmd /c type a.txt",
			"head -5 a > b; cat b", "cat a 2>/dev/null", "tail -n +5 -- a",
		},
		Search: {
			`grep "a|b" x`, "rg 'x' | head -20", "cat a | grep 'b'", "cd x && rg -n 'a|b' .", "find . -type f | sort", "git grep -n foo", "git ls-files",
			"npm test 2>&1 | grep FAIL", "ls | grep go", `bash -lc 'rg -n "a" | head'`, "find . -name '*.go' -exec grep -l x {} \\;", "find . | xargs grep -n foo",
			"for d in a b; do echo \"== $d\"; grep -n x $d/*; done", "grep -rn foo . | grep -v vendor", "rg foo || true", "grep -C3 foo a", "fd -e go", "rg --files -g '*.go'",
			`powershell -Command "Get-ChildItem -Recurse | Select-String 'foo'"`, "Select-String -Path *.cs -Pattern foo", "cat > a <<'EOF'\n| '\nEOF\ngrep -n x a", "grep -e a -e b x",
		},
		Log: {
			"cd x && npm test", "FOO=1 make", "sudo make install", "bash -lc 'go test ./...'", "npm ci && npm test | tail -50", "go test ./... 2>&1 | tee out.txt", "timeout 60 cargo build",
			"npx vitest run", "python3 -m pytest -q", "uv run pytest", "poetry run mypy .", "pnpm --filter web build", "yarn", "yarn lint", "bun run test", "docker compose up -d", "docker build .", "docker logs web",
			"./gradlew test", "./node_modules/.bin/jest", "time make -j8", "/usr/bin/time -v make", "npm run build 2>&1 | tail -n 40", "! make", "make | head -100", "echo y | apt-get install -y jq",
			"dotnet test --no-build", `powershell -Command "npm run build"`, "docker exec web npm test", "uv pip install x", "set -e; make; make test", "(cd a && make) && (cd b && make)", "go vet ./... && go test ./...",
			"make 2>&1 | grep -v '^cc'",
		},
		Other: {
			"", " ", "|", "ls -la", "git status", "git diff --stat", "git log --oneline", "git show --stat HEAD", "git diff --name-only | head", "docker ps", "docker compose ps", "go list ./...", "go doc fmt", "go env", "go run .", "cargo run",
			"cargo metadata", "pip --version", "npm view x", "npm ls", "npm run", "npm test; git status", "rg foo; ls", "wc -l *.go", "find . | wc -l", "grep -c x a", "grep x a | cut -d: -f1", "grep x a | awk '{print $2}'", "rg --json x", "rg --stats x",
			"cat > a <<'EOF'\ncat b\nEOF", "cat a > b", "make > log 2>&1", "sed -i s/a/b/ a", "python3 - <<'EOF'\nprint(1)\nEOF", "curl x | head", "jq . a.json", "echo \"$OUT\"", "echo $(cat a)", "x=$(cat a)", "find . -ls", "find . -delete", "find . -exec rm {} +",
			"cat a | python3 -c 'x'", "rg x | sort | uniq -c", "go test -json ./...", "eslint -f json .", "pytest --collect-only", "make --version", "grep -q x a", "case $x in a) cat b;; esac", "cat 'a", "grep \"x", "bash script.sh", "sh", "$CMD x", "f() { cat a; }",
			"[[ -f a && -d b ]]", "test -f a && echo yes", "sleep 5", `powershell -Command "Get-Process | Format-Table"`, `powershell -File x.ps1`, "Get-ChildItem | ForEach-Object { Get-Content $_ }", "xargs", "sudo", "env", "timeout 5", "docker run web make", "jest --listTests | head",
		},
	}
	for want, commands := range cases {
		for _, c := range commands {
			assert.Equal(t, want, Careful().Classify(c), "%q", c)
		}
	}
}

// Wrapping a command in a way that changes nothing of what it prints changes
// nothing of its kind.
func TestCarefulSeesThroughWrapping(t *testing.T) {
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
	for _, l := range labels(t, "commands.tsv") {
		kind := Careful().Classify(l.command)
		for _, wrapped := range []string{
			"bash -lc " + quote(l.command), "cd /x && " + l.command, "(\n" + l.command + "\n)", "export A=1; " + l.command, "# note\n" + l.command + "\n",
		} {
			assert.Equal(t, kind, Careful().Classify(wrapped), "%q", wrapped)
		}
	}
}

func TestClassifyIsLinear(t *testing.T) {
	for _, piece := range []string{"(", "$(", "\"$(", "`", "a;", "a|", "'", "\"", "<<A ", "<<A\n", "if ", "{ ", "x() ", "for ", "((", "[[ ", "bash -c '", "&", "\\", "${", "find -exec ", "sudo ", "xargs ", "$'", "<(", "#", "case "} {
		start := time.Now()
		Careful().Classify(strings.Repeat(piece, 100_000/len(piece)))
		assert.Less(t, time.Since(start), 30*time.Second, "%q", piece)
	}
}

func FuzzClassify(f *testing.F) {
	for _, l := range labels(f, "commands.tsv") {
		f.Add(l.command)
	}
	f.Fuzz(func(t *testing.T, command string) {
		for _, p := range Profiles() {
			if k := p.Classify(command); k != Source && k != Search && k != Log && k != Other {
				t.Fatalf("%s says %q", p.Name, k)
			}
		}
	})
}
