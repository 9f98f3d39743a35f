package main

import (
	"fmt"
	"strings"
)

// play tells the story: an export is added to a program for bird watchers, a
// slow test suite is waited for, a question is asked the next morning.
func (d *demo) play() {
	d.input = unlogged
	d.record("session_meta", object{
		"id": "019cea51-0d3e-7000-8000-00000000b12d", "timestamp": d.now.Format("2006-01-02T15:04:05.000Z"), "cwd": cwd,
		"originator": "codex_cli_rs", "cli_version": "0.104.0", "source": "cli", "model_provider": "openai",
		"git": object{"branch": "main"},
	})
	d.message("developer", "<permissions instructions>\nFilesystem sandboxing: workspace-write. Network access is restricted.\n</permissions instructions>")
	d.message("user", "# AGENTS.md instructions for "+cwd+"\n\n<INSTRUCTIONS>\n"+agents+"</INSTRUCTIONS>")
	d.message("user", "<environment_context>\n  <cwd>"+cwd+"</cwd>\n  <shell>bash</shell>\n</environment_context>")

	d.explore()
	d.build()
	d.suite()
	d.morning()
}

const agents = `- Go 1.26, no dependencies beyond the standard library.
- Every exported name has a doc comment.
- Run go vet and the tests before you say that you are done.
`

func (d *demo) explore() {
	d.prompt("Add a CSV export to birdlog: `birdlog export --since DATE -o FILE`. One row per sighting. Dates must be in the observer's own time zone, not UTC.")
	d.step("I'll look at the layout and at how sightings are stored.",
		exec("git status --short", ""), exec("ls -la", listing()))
	d.step("", exec("nl -ba store/store.go", numbered(goFile("store", 150))))
	d.step("", exec("nl -ba store/sighting.go", numbered(goFile("sighting", 120))))
	d.step("", exec("nl -ba cmd/birdlog/main.go", numbered(goFile("command", 130))))
	d.step("", exec(`rg -n "time\.(UTC|Local)" .`, search(34)))
	d.step("", exec("sed -n 1,120p store/store_test.go", goFile("storeTest", 120)))
	d.step("Times are stored in UTC with the observer's zone beside them. Plan first.",
		call{"update_plan", `{"plan":[{"step":"Write export package","status":"in_progress"},{"step":"Wire command","status":"pending"},{"step":"Test","status":"pending"}]}`, "Plan updated", 0})
}

func (d *demo) build() {
	d.step("", exec("cat > export/export.go <<'EOF'\n"+goFile("export", 70)+"EOF", ""))
	d.step("", failing("go test ./...", testLog(40, true)))
	d.step("The zone of old sightings is empty; those fall back to the store's default.", exec("nl -ba store/sighting.go", numbered(goFile("sighting", 120))))
	d.step("", exec("python3 - <<'EOF'\nfrom pathlib import Path\np = Path('export/export.go')\np.write_text(p.read_text().replace('s.Zone', 'zoneOf(s)'))\nEOF", ""))
	d.step("", failing("go test ./...", testLog(40, true)))
	d.step("", exec("git diff", diff(60)), exec("git status --short", " M cmd/birdlog/main.go\n?? export/\n"))
	d.step("", exec("cat > export/export_test.go <<'EOF'\n"+goFile("exportTest", 60)+"EOF", ""))
	d.step("", exec("go test ./...", testLog(40, false)))
	d.step("", exec("go vet ./...", ""), exec("git status --short", " M cmd/birdlog/main.go\n?? export/\n"))
	d.step("", call{"update_plan", `{"plan":[{"step":"Write export package","status":"completed"},{"step":"Wire command","status":"completed"},{"step":"Test","status":"completed"}]}`, "Plan updated", 0})
	d.done("`birdlog export` writes one row per sighting, with times in the observer's zone. Old sightings without a zone use the store's default. All tests pass.")
}

// suite waits for slow tests in the background, looking again and again.
func (d *demo) suite() {
	d.wait(240)
	d.prompt("Run the whole integration suite, it takes a while, and fix what fails.")
	d.step("", call{"exec_command", quoteArgs("cmd", "make integration", "workdir", cwd), shell(10, "Process running with session ID 4711", "building fixtures…\n"), 10})
	for i := range 5 {
		output := ""
		if i%2 == 1 {
			output = testLog(6, false)
		}
		d.step("", call{"write_stdin", `{"session_id":4711,"chars":"","yield_time_ms":30000}`, shell(30, "Process running with session ID 4711", output), 30})
	}
	d.step("", call{"write_stdin", `{"session_id":4711,"chars":"","yield_time_ms":30000}`, shell(12, "Process exited with code 1", testLog(160, true)), 12})
	d.step("One test sorts by local time. I'll read it.", exec("nl -ba integration/export_test.go", numbered(goFile("integration", 180))))
	d.step("", exec("nl -ba store/store.go", numbered(goFile("store", 150))))
	d.step("", exec("sed -i 's/sortByLocal/sortByInstant/' store/store.go", ""))
	d.step("", exec("go test ./...", testLog(40, false)))
	d.step("", exec("go test ./integration -run TestExportOrder -v", testLog(25, false)), exec("git status --short", " M cmd/birdlog/main.go\n M store/store.go\n?? export/\n"))
	d.done("The suite found one real fault: two sightings in the same local hour, an hour apart because the clocks changed, came out in the wrong order. Sorting by instant fixes it.")
}

// morning comes back when the cache has long gone.
func (d *demo) morning() {
	d.wait(14 * 3600)
	d.cold = true
	d.prompt("Which sightings would change their order because of that fix? Only look, change nothing.")
	d.step("", exec(`rg -n "sortByInstant|sortByLocal" .`, search(9)))
	d.step("", exec("cat testdata/sightings.json", sightings(220)))
	d.step("", exec("git log --oneline -n 20", history(20)), exec("git status --short", " M cmd/birdlog/main.go\n M store/store.go\n?? export/\n"))
	d.done("Only those between 02:00 and 03:00 on the night in October when the clocks go back: 3 of the 220 in the test data.")
}

var birds = []string{"robin", "wren", "blackcap", "dunnock", "goldcrest", "nuthatch", "siskin", "redstart", "fieldfare", "dipper"}

func listing() string {
	var b strings.Builder
	b.WriteString("total 48\n")
	for i, name := range []string{".git", "AGENTS.md", "Makefile", "README.md", "cmd", "go.mod", "integration", "store", "testdata"} {
		fmt.Fprintf(&b, "-rw-r--r-- 1 ada ada %6d Mar 13 17:%02d %s\n", 400+i*731, 10+i, name)
	}
	return b.String()
}

// goFile is something that looks like a source file of so many lines.
func goFile(name string, lines int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "package %s\n\n", strings.ToLower(name))
	for n := 2; n < lines; n += 8 {
		bird := birds[(n*7+len(name))%len(birds)]
		fmt.Fprintf(&b, "// %s%d tells how often a %s was seen since day %d.\nfunc (s *Store) %s%d(since int) (int, error) {\n", name, n, bird, n*3, name, n)
		fmt.Fprintf(&b, "\trows, err := s.find(%q, since+%d)\n\tif err != nil {\n\t\treturn 0, fmt.Errorf(\"finding %s: %%w\", err)\n\t}\n\treturn len(rows), nil\n}\n", bird, n, bird)
	}
	return b.String()
}

func numbered(text string) string {
	var b strings.Builder
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		fmt.Fprintf(&b, "%6d\t%s\n", i+1, line)
	}
	return b.String()
}

func search(hits int) string {
	var b strings.Builder
	for i := range hits {
		fmt.Fprintf(&b, "./store/%s.go:%d:\tseen := s.At.In(time.UTC).Format(layout%d)\n", birds[i%len(birds)], 11+i*9, i%4)
	}
	return b.String()
}

// testLog is a verbose test run; one test fails near the end if asked to.
func testLog(tests int, fails bool) string {
	var b strings.Builder
	for i := range tests {
		name := fmt.Sprintf("Test%sSeen%d", strings.ToUpper(birds[i%len(birds)][:1])+birds[i%len(birds)][1:], i)
		fmt.Fprintf(&b, "=== RUN   %s\n--- PASS: %s (0.0%ds)\n", name, name, i%7)
	}
	if fails {
		b.WriteString("=== RUN   TestExportOrder\n    export_test.go:41: row 17: got 02:30 before 02:10\n--- FAIL: TestExportOrder (0.01s)\nFAIL\nFAIL\tbirdlog/export\t0.214s\n")
		return b.String()
	}
	b.WriteString("PASS\nok  \tbirdlog/export\t0.198s\n")
	return b.String()
}

func diff(lines int) string {
	var b strings.Builder
	b.WriteString("diff --git a/cmd/birdlog/main.go b/cmd/birdlog/main.go\n--- a/cmd/birdlog/main.go\n+++ b/cmd/birdlog/main.go\n@@ -12,6 +12,18 @@\n")
	for i := range lines {
		fmt.Fprintf(&b, "+\tcase %q: // row %d\n", "export-"+birds[i%len(birds)], i)
	}
	return b.String()
}

func sightings(n int) string {
	var b strings.Builder
	b.WriteString("[\n")
	for i := range n {
		fmt.Fprintf(&b, "  {\"id\": %d, \"bird\": %q, \"at\": \"2025-10-%02dT%02d:%02d:00Z\", \"zone\": \"Europe/Vienna\"},\n", i+1, birds[i*3%len(birds)], 1+i%30, i%24, i*7%60)
	}
	b.WriteString("]\n")
	return b.String()
}

func history(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%07x Count the %ss of day %d\n", (i+1)*104729, birds[i%len(birds)], i)
	}
	return b.String()
}
