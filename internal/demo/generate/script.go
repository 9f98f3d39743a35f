package main

import "time"

// lastCut stands in arguments for the call whose result was cut last.
const lastCut = "$CUT"

func read(file string) call {
	return call{"read", object("filePath", root+"/"+file)}
}

func readPart(file string, offset, limit int) call {
	return call{"read", object("filePath", root+"/"+file, "offset", offset, "limit", limit)}
}

func grep(pattern string) call {
	return call{"grep", object("pattern", pattern, "path", root)}
}

func ls(folder string) call { return call{"ls", object("path", root+folder)} }

func bash(command string) call { return call{"bash", object("command", command)} }

func edit(file, from, to string) call {
	return call{"edit", object("filePath", root+"/"+file, "oldString", from, "newString", to)}
}

// todo is a to-do list of which the first done items are finished.
func todo(done int, items ...string) call {
	list := make([]map[string]string, len(items))
	for i, item := range items {
		status := "pending"
		switch {
		case i < done:
			status = "completed"
		case i == done:
			status = "in_progress"
		}
		list[i] = map[string]string{"id": string(rune('1' + i)), "content": item, "status": status}
	}
	return call{"todowrite", object("todos", list)}
}

func does(say string, think int, calls ...call) step {
	return step{say: say, think: think, calls: calls}
}

// script is the whole session: a bug is found and fixed, its twin in the export
// too, then a long test runs in the background.
func script() []run {
	return []run{
		{0, "Readers at Brackwater say the tide table is one hour early since the clocks changed in spring. Find out why and fix it.", findTheBug()},
		{2 * time.Minute, "Good. The download under /tables.csv still shows the old times, though. Fix that as well, and add a test for the night of the change.", fixTheExport()},
		{26 * time.Minute, "Now run the soak test in the background and tell me when it is through. While it runs, bring the README up to date.", soak()},
	}
}

var firstPlan = []string{"Find where wall time is computed", "Reproduce the wrong hour", "Fix the clock", "Run all tests"}

func findTheBug() []step {
	return []step{
		does("I'll look at how times are turned into wall time first.", 380, todo(0, firstPlan...)),
		does("", 120, grep("LoadLocation|Zone\\(|time.UTC"), ls("")),
		does("The clock is the place.", 210, read("harbor/clock.go")),
		does("Now how a day is put together.", 160, read("harbor/forecast.go")),
		does("And what a station knows.", 90, read("harbor/stations.go")),
		does("", 140, read("harbor/clock_test.go")),
		does("Once more how the offset is taken.", 150, readPart("harbor/clock.go", 16, 16)),
		does("There is a test for summer. Let me see whether it passes today.", 260, bash("go test ./... -v")),
		does("The log was cut; I only need the failures.", 110, call{"output", object("id", lastCut, "pattern", "FAIL")}),
		does("TestClockSummer fails. The offset is taken once, on the day the station opened, and kept.", 640, readPart("harbor/clock.go", 12, 30)),
		does("The zone itself knows about summer time, so I'll ask it for every moment.", 410,
			edit("harbor/clock.go", "\treturn t.Add(c.offset)\n", "\treturn t.In(c.zone)\n")),
		does("", 80, bash("go test ./harbor -run TestClock")),
		does("That passes. The head line of a table uses the same stale offset.", 230,
			edit("harbor/clock.go", "\treturn c.offset\n", "\t_, seconds := t.In(c.zone).Zone()\n\treturn time.Duration(seconds) * time.Second\n")),
		does("Who else uses it?", 90, grep("offset")),
		does("", 170, read("cmd/tided/main.go")),
		does("A day must start at local midnight, not at the midnight of the opening offset.", 520,
			edit("harbor/forecast.go", "\tstart := time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, time.UTC).Add(c.offset)\n", "\tstart := time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, c.zone)\n")),
		does("The text was not quite that. Reading it again.", 130, read("harbor/forecast.go")),
		does("", 190,
			edit("harbor/forecast.go", "\tstart := time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, time.UTC).Add(-c.offset)\n", "\tstart := time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, c.zone)\n")),
		does("", 60, bash("go test ./harbor -run TestClock")),
		does("", 100, read("harbor/clock.go")),
		does("", 70, todo(3, firstPlan...)),
		does("", 50, bash("go vet ./...")),
		does("Now the whole suite.", 90, bash("go test ./... -v")),
		does("The clock looked its offset up once, on the day a station opened, so every summer was an hour early. `harbor/clock.go` now asks the time zone for each moment, and `harbor/forecast.go` starts a day at local midnight. All tests pass, TestClockSummer included.", 300),
	}
}

var secondPlan = []string{"Find how the export computes times", "Write a test for the night of the change", "Fix the export", "Run the tests"}

func fixTheExport() []step {
	return []step{
		does("The export may have an offset of its own.", 240, todo(0, secondPlan...)),
		does("", 80, grep("tables.csv|Offset")),
		does("", 150, read("export/csv.go")),
		does("It adds Station.Offset, which is never set. I'll look at the stations again to be sure.", 330, read("harbor/stations.go")),
		{say: "", think: 60, calls: []call{ls("/export")}, fails: "API error 529: overloaded"},
		does("", 90, read("export/csv_test.go"), read("export/csv.go"), readPart("harbor/clock.go", 26, 16)),
		does("What does it give out right now?", 120, bash("curl -s localhost:8086/tables.csv | head -160")),
		does("First the test, so that I see it fail.", 580, call{"write", object("filePath", root+"/export/night_test.go", "content", nightTest)}),
		does("", 60, bash("go test ./export")),
		does("It fails for the reason expected.", 200,
			edit("export/csv.go", "e.At.Add(offset).Format(", "clock.Wall(e.At).Format(")),
		does("The variable is not needed any more.", 90, edit("export/csv.go", "\toffset := s.Offset\n", "")),
		does("", 50, bash("go test ./export")),
		does("", 80, read("export/csv.go")),
		does("", 40, bash("curl -s localhost:8086/tables.csv | head -160")),
		does("", 60, bash("git diff --stat")),
		does("", 50, todo(4, secondPlan...)),
		does("`export/csv.go` had an offset of its own that was never set. It now uses the station's clock, as the pages do. `export/night_test.go` covers the night of 29 March; it failed before the change and passes now.", 220),
	}
}

func soak() []step {
	return []step{
		does("Starting it.", 110, bash("nohup make soak > soak.log 2>&1 &")),
		does("", 90, read("README.md")),
		does("Let me see how far it is.", 60, bash("sleep 20")),
		does("", 30, bash("tail -n 3 soak.log")),
		does("", 30, bash("sleep 20 && echo done")),
		does("", 30, bash("sleep 20 && echo done")),
		does("", 30, bash("tail -n 3 soak.log")),
		does("It will take a while longer. Meanwhile the README.", 260,
			edit("README.md", "zone, lag, mean level and range, and run", "zone, lag, mean level and range (wall time follows the zone, summer time\nincluded), and run")),
		does("", 30, bash("sleep 20")),
		does("", 30, bash("sleep 20")),
		does("", 30, bash("tail -n 3 soak.log")),
		does("The soak test is through: all 99 stations fine, no day with more than four tides. The README now says that wall time follows the time zone of the station.", 150),
	}
}

const nightTest = `package export

import (
	"strings"
	"testing"
	"time"

	"tidewater/harbor"
)

// In the night of 29 March 2026 clocks go from 01:00 to 02:00.
func TestTablesNightOfTheChange(t *testing.T) {
	var b strings.Builder
	day := time.Date(2026, time.March, 29, 0, 0, 0, 0, time.UTC)
	if err := Tables(&b, harbor.Stations[:1], day); err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(b.String()), "\n") {
		at := strings.Split(line, ",")[1]
		if at >= "2026-03-29 01:00" && at < "2026-03-29 02:00" {
			t.Errorf("a tide at %s, an hour that does not exist", at)
		}
	}
	if !strings.Contains(b.String(), "2026-03-29 02:52") {
		first, _, _ := strings.Cut(b.String(), "\n")
		t.Errorf("first tide of 29 Mar after the change reads %s, want 2026-03-29 02:52", strings.Split(first, ",")[1])
	}
}
`
