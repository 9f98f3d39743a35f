package main

import (
	"embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// root is where the invented project lies on the invented machine.
const root = "/home/dev/tidewater"

//go:embed project
var originals embed.FS

// originalNames are the files of the project; they are kept as .txt so that
// they are no Go code of this module.
var originalNames = map[string]string{
	"harbor/clock.go": "harbor/clock.txt", "harbor/forecast.go": "harbor/forecast.txt", "harbor/clock_test.go": "harbor/clock_test.txt",
	"export/csv.go": "export/csv.txt", "export/csv_test.go": "export/csv_test.txt",
	"cmd/tided/main.go": "cmd/tided/main.txt", "README.md": "README.txt", "system.txt": "system.txt",
}

// project is the files the agent works on and the tools that work on them.
type project struct {
	files   map[string]string
	results map[string]string // whole results by call ID
	soaked  int               // stations the soak test is through with
	plain   bool              // reads come without line numbers
}

func newProject() *project {
	p := &project{files: map[string]string{}, results: map[string]string{}}
	for name, original := range originalNames {
		content, err := originals.ReadFile("project/" + original)
		if err != nil {
			panic(err) // the files are part of this program
		}
		p.files[name] = string(content)
	}
	p.files["harbor/stations.go"] = stations()
	return p
}

func (p *project) file(name string) string { return p.files[name] }

// names lists the files below a folder, without what is not in the project.
func (p *project) names(below string) []string {
	var names []string
	for name := range p.files {
		if name != "system.txt" && strings.HasPrefix(name, below) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// context is FreeCode's leading message about the project.
func (p *project) context() string {
	return "Project context:\nName: tidewater\nPath: " + root + "\nFiles:\n" + strings.Join([]string{
		"AGENTS.md", "Makefile", "README.md", "cmd/", "export/", "go.mod", "harbor/"}, "\n") + "\nTime: 2026-08-18 08:00 UTC"
}

// arguments are those of all tools used here.
type arguments struct {
	FilePath, Path, Pattern, Command, ID string
	OldString, NewString, Content        string
	Offset, Limit                        int
	Todos                                []struct{ Content, Status string }
}

// answer runs a call: its whole output and how long it took in milliseconds.
func (p *project) answer(c call, id string) (output string, ms int) {
	var a arguments
	if err := json.Unmarshal([]byte(c.args), &a); err != nil {
		panic(err) // the script is part of this program
	}
	output, ms = p.tool(c.tool, a)
	p.results[id] = output
	return output, ms
}

func (p *project) tool(name string, a arguments) (output string, ms int) {
	file := strings.TrimPrefix(a.FilePath, root+"/")
	switch name {
	case "read":
		return p.read(file, a), 11
	case "grep":
		return p.grep(a), 24
	case "ls":
		return p.list(strings.TrimPrefix(strings.TrimPrefix(a.Path, root), "/")), 9
	case "edit":
		return p.edit(file, a), 17
	case "write":
		p.files[file] = a.Content
		return "File created successfully.", 8
	case "todowrite":
		return todoList(a), 3
	case "output":
		return p.page(a), 5
	}
	return p.shell(a.Command)
}

func (p *project) read(name string, a arguments) string {
	content, ok := p.files[name]
	if !ok {
		return "File not found: " + root + "/" + name
	}
	lines := strings.Split(strings.TrimSuffix(content, "\n"), "\n")
	first, last := max(a.Offset, 1), len(lines)
	footer := fmt.Sprintf("(End of file - total %d lines)", len(lines))
	if a.Limit > 0 && first+a.Limit-1 < last {
		last = first + a.Limit - 1
		footer = fmt.Sprintf("(Showing lines %d-%d of %d. Use offset=%d to continue.)", first, last, len(lines), last+1)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<path>%s/%s</path>\n<type>file</type>\n<content>\n", root, name)
	for n := first; n <= last; n++ {
		if !p.plain {
			fmt.Fprintf(&b, "%d: ", n)
		}
		b.WriteString(lines[n-1] + "\n")
	}
	return b.String() + "\n" + footer + "\n</content>"
}

func (p *project) grep(a arguments) string {
	pattern := regexp.MustCompile(a.Pattern)
	var b strings.Builder
	for _, name := range p.names("") {
		for i, line := range strings.Split(p.files[name], "\n") {
			if pattern.MatchString(line) {
				fmt.Fprintf(&b, "%s/%s:%d:%s\n", root, name, i+1, line)
			}
		}
	}
	if b.Len() == 0 {
		return "No matches found"
	}
	return b.String()
}

func (p *project) list(below string) string {
	var b strings.Builder
	folders := map[string]bool{}
	names := p.names(below)
	for _, name := range names {
		if folder, _, ok := strings.Cut(name, "/"); ok && !folders[folder] {
			folders[folder] = true
			fmt.Fprintf(&b, "%s/\n", folder)
		}
		fmt.Fprintf(&b, "  %s\n", name[strings.LastIndexByte(name, '/')+1:])
	}
	return fmt.Sprintf("%s/\n%s%d files, %d directories", root, b.String(), len(names), len(folders))
}

// edit replaces a text and shows the place as FreeCode does, four lines of
// context on each side.
func (p *project) edit(name string, a arguments) string {
	before, after, ok := strings.Cut(p.files[name], a.OldString)
	if !ok {
		return "Could not find oldString in the file."
	}
	p.files[name] = before + a.NewString + after
	first := strings.Count(before, "\n")
	all := strings.Split(p.files[name], "\n")
	added := strings.Split(a.NewString, "\n")
	end := first + len(added)
	var b strings.Builder
	show := func(mark string, from int, lines []string) {
		for i, line := range lines {
			fmt.Fprintf(&b, "%s%4d %s\n", mark, from+i+1, line)
		}
	}
	show(" ", max(first-4, 0), all[max(first-4, 0):first])
	show("-", first, strings.Split(a.OldString, "\n"))
	show("+", first, added)
	show(" ", end, all[end:min(end+4, len(all))])
	return strings.TrimSuffix(b.String(), "\n")
}

func todoList(a arguments) string {
	var lines []string
	for _, t := range a.Todos {
		lines = append(lines, map[string]string{"completed": "[x] ", "in_progress": "[~] ", "pending": "[ ] "}[t.Status]+t.Content)
	}
	return strings.Join(lines, "\n")
}

// page is the output tool: the lines of an earlier result that match a pattern.
func (p *project) page(a arguments) string {
	lines := strings.Split(p.results[a.ID], "\n")
	var b strings.Builder
	for i, line := range lines {
		if strings.Contains(line, a.Pattern) {
			fmt.Fprintf(&b, "%d: %s\n", i+1, line)
		}
	}
	return fmt.Sprintf("%s\n(grep %q over %d lines)", b.String(), a.Pattern, len(lines))
}
