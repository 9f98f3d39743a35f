package main

import (
	"fmt"
	"strconv"
	"strings"
)

// shell answers the commands of the script.
func (p *project) shell(command string) (output string, ms int) {
	switch {
	case command == "go test ./... -v":
		return p.testAll(), 6210
	case strings.HasPrefix(command, "go test ./harbor"):
		return p.testHarbor(), 1890
	case strings.HasPrefix(command, "go test ./export"):
		return p.testExport(), 1740
	case strings.HasPrefix(command, "sleep "):
		seconds, _ := strconv.Atoi(strings.Fields(command)[1])
		p.soaked = min(p.soaked+seconds, len(stationNames()))
		if strings.HasSuffix(command, "echo done") {
			return "done", seconds * 1000
		}
		return "(no output)", seconds * 1000
	case strings.HasPrefix(command, "tail "):
		return p.soakLog(), 14
	case strings.HasPrefix(command, "git diff"):
		return p.diffStat(), 31
	case strings.HasPrefix(command, "curl "):
		return p.table(), 42
	}
	return "(no output)", 120 // go vet, gofmt, the start of the soak test
}

func (p *project) clockFixed() bool {
	return strings.Contains(p.files["harbor/clock.go"], "t.In(c.zone)")
}

func (p *project) exportFixed() bool {
	return strings.Contains(p.files["export/csv.go"], "clock.Wall(")
}

// testAll is the whole suite, told at length: too long for one result.
func (p *project) testAll() string {
	var b strings.Builder
	verdict := "PASS"
	for _, name := range []string{"TestClockWinter", "TestClockSummer", "TestForecastDay"} {
		fmt.Fprintf(&b, "=== RUN   %s\n", name)
		if name == "TestClockSummer" && !p.clockFixed() {
			b.WriteString("    clock_test.go:36: Label = \"03 Jul 11:20\", want \"03 Jul 12:20\"\n--- FAIL: TestClockSummer (0.00s)\n")
			verdict = "FAIL"
			continue
		}
		fmt.Fprintf(&b, "--- PASS: %s (0.00s)\n", name)
	}
	for i, station := range stationNames() {
		for _, tide := range []string{"spring", "neap", "leap_day"} {
			fmt.Fprintf(&b, "=== RUN   TestStations/%s/%s\n    stations_test.go:41: %d tides, highest %.2f m\n--- PASS: TestStations/%s/%s (0.%02ds)\n",
				station, tide, 56+i%3, 2.4+float64(i%17)/10, station, tide, i%7)
		}
	}
	fmt.Fprintf(&b, "%s\n%s\ttidewater/harbor\t4.812s\n", verdict, map[string]string{"PASS": "ok  ", "FAIL": "FAIL"}[verdict])
	return b.String() + "=== RUN   TestTables\n--- PASS: TestTables (0.00s)\nPASS\nok  \ttidewater/export\t0.207s\n?   \ttidewater/cmd/tided\t[no test files]\n"
}

func (p *project) testHarbor() string {
	if p.clockFixed() {
		return "ok  \ttidewater/harbor\t0.388s\n"
	}
	return "--- FAIL: TestClockSummer (0.00s)\n    clock_test.go:36: Label = \"03 Jul 11:20\", want \"03 Jul 12:20\"\nFAIL\nFAIL\ttidewater/harbor\t0.391s\nFAIL\n"
}

func (p *project) testExport() string {
	if p.exportFixed() {
		return "ok  \ttidewater/export\t0.214s\n"
	}
	return "--- FAIL: TestTablesNightOfTheChange (0.00s)\n    night_test.go:27: first tide of 29 Mar after the change reads 2026-03-29 01:52, want 2026-03-29 02:52\nFAIL\nFAIL\ttidewater/export\t0.219s\nFAIL\n"
}

// soakLog is the end of soak.log at the moment.
func (p *project) soakLog() string {
	names := stationNames()
	var b strings.Builder
	for i := max(p.soaked-3, 0); i < p.soaked; i++ {
		fmt.Fprintf(&b, "%s: 365 days, no day with more than four tides\n", names[i])
	}
	if p.soaked == len(names) {
		b.WriteString("soak: all stations fine\n")
	}
	if b.Len() == 0 {
		return "(no output)"
	}
	return b.String()
}

func (p *project) diffStat() string {
	return " export/csv.go       |  3 +--\n export/night_test.go | 31 +++++++++++++++++++++++++++++++\n harbor/clock.go     |  7 ++++---\n harbor/forecast.go  |  2 +-\n 4 files changed, 37 insertions(+), 6 deletions(-)\n"
}

// table is a piece of /tables.csv.
func (p *project) table() string {
	var b strings.Builder
	for i, name := range stationNames()[:40] {
		for k, kind := range []string{"high", "low", "high", "low"} {
			fmt.Fprintf(&b, "%s,2026-08-18 %02d:%02d,%s,%.2f\n", name, (k*6+i/9)%24, (i*7+k*13)%60, kind, 1+float64((i*3+k*11)%29)/10)
		}
	}
	return b.String()
}

// stationNames are invented.
func stationNames() []string {
	var names []string
	for _, first := range []string{"Brack", "Alder", "Sand", "Herring", "Long", "Grey", "Salt", "Marram", "Cockle", "Wind", "Low"} {
		for _, second := range []string{"water", "mouth", "haven", "ness", "sound", "wick", "holm", "bar", "reach"} {
			names = append(names, first+second)
		}
	}
	return names
}

// stations is harbor/stations.go, a long table.
func stations() string {
	var b strings.Builder
	b.WriteString("package harbor\n\nimport \"time\"\n\n// A Station is a place tides are forecast for.\ntype Station struct {\n\tName   string\n\tZone   string\n\tOpened time.Time\n\tLag    time.Duration // behind the model port\n\tMean   float64       // meters\n\tRange  float64       // meters\n\tOffset time.Duration // of wall time, as of the opening\n}\n\n// Stations lists all stations, in order of opening.\nvar Stations = []Station{\n")
	zones := []string{"Europe/Lisbon", "Europe/London", "Atlantic/Azores"}
	for i, name := range stationNames() {
		fmt.Fprintf(&b, "\t{Name: %q, Zone: %q, Opened: opened(%d, %d), Lag: %d * time.Minute, Mean: %.2f, Range: %.2f},\n",
			name, zones[i%3], 1998+i/5, 1+i%12, 5+(i*7)%90, 1.8+float64(i%9)/10, 2.2+float64(i%23)/10)
	}
	b.WriteString("}\n\nfunc opened(year int, month time.Month) time.Time {\n\treturn time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)\n}\n")
	return b.String()
}
