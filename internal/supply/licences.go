package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

const program = "github.com/fclog/fclog"

// platforms are those whose programs the page is about.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64"}

// module is one that a program is built from, at any platform.
type module struct {
	Path, Version, Dir string
	Licence            string   // SPDX expression
	Files              []string // licence texts, in Dir
}

// modulesOf lists the modules that packages of the program come from, as the linker
// would take them: what only tests need is left out.
func modulesOf(platforms []string) ([]module, error) {
	byPath := map[string]module{}
	for _, p := range platforms {
		system, arch, _ := strings.Cut(p, "/")
		cmd := exec.Command("go", "list", "-deps", "-json=Module", program+"/cmd/fclog")
		cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=1")
		var fault bytes.Buffer
		cmd.Stderr = &fault
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("listing the packages for %s: %w: %s", p, err, fault.String())
		}
		if err := collect(out, byPath); err != nil {
			return nil, err
		}
	}
	out := []module{}
	for _, m := range byPath {
		if err := m.identify(); err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	slices.SortFunc(out, func(x, y module) int { return cmp.Compare(x.Path, y.Path) })
	return out, nil
}

func collect(list []byte, byPath map[string]module) error {
	dec := json.NewDecoder(bytes.NewReader(list))
	for {
		var p struct {
			Module *struct{ Path, Version, Dir string }
		}
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if p.Module != nil && p.Module.Path != program {
			byPath[p.Module.Path] = module{Path: p.Module.Path, Version: p.Module.Version, Dir: p.Module.Dir}
		}
	}
}

var licenceName = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|unlicense)([-._].*)?$`)

// identify finds the licence texts of a module and says which licences they are.
func (m *module) identify() error {
	entries, err := os.ReadDir(m.Dir)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Path, err)
	}
	var names []string
	for _, e := range entries {
		if !e.Type().IsRegular() || !licenceName.MatchString(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(m.Dir, e.Name()))
		if err != nil {
			return err
		}
		m.Files = append(m.Files, e.Name())
		if strings.Contains(e.Name(), "3RD-PARTY") {
			continue // lists what is in the module's repository, also where no program has it
		}
		for _, name := range licencesIn(string(text)) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		return fmt.Errorf("%s %s: no licence that is known among %q; look at it and teach licencesIn", m.Path, m.Version, m.Files)
	}
	slices.Sort(names)
	m.Licence = strings.Join(names, " AND ")
	return nil
}

// marks are phrases that stand in one licence only.
var marks = []struct{ licence, phrase string }{
	{"Apache-2.0", "apache license version 2.0"},
	{"MIT", "permission is hereby granted, free of charge, to any person obtaining a copy"},
	{"ISC", "permission to use, copy, modify, and/or distribute this software for any purpose"},
	{"BSD-3-Clause", "endorse or promote products derived from"},
	{"BSD-2-Clause", "this list of conditions and the following disclaimer in the documentation"},
	{"MPL-2.0", "mozilla public license version 2.0"},
	{"GPL", "gnu general public license"},
	{"LGPL", "gnu lesser general public license"},
	{"blessing", "dedicated to the public domain by the authors"},
	{"Unlicense", "this is free and unencumbered software released into the public domain"},
}

var blanks = regexp.MustCompile(`[\s*>#/,]+`)

// licencesIn names the licences a text holds, as SPDX does.
func licencesIn(text string) []string {
	plain := func(s string) string { return strings.TrimSpace(blanks.ReplaceAllString(strings.ToLower(s), " ")) }
	text = plain(text)
	var out []string
	for _, m := range marks {
		if !strings.Contains(text, plain(m.phrase)) {
			continue
		}
		// The clauses of BSD-2 stand in BSD-3, too.
		if m.licence == "BSD-2-Clause" && slices.Contains(out, "BSD-3-Clause") {
			continue
		}
		out = append(out, m.licence)
	}
	return out
}

// page is docs/licences.md.
func page(modules []module) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# What is in the program, under which licences?

The modules that fclog is linked from, on any of %s. Written by `+"`make licences`"+`,
which also writes all licence texts to `+"`bin/licences.txt`"+`, to go along with a built program; a test compares this page
with what the program is built from. Go itself is under BSD-3-Clause. DuckDB, in `+"`duckdb-go-bindings`"+`, is under MIT, as they are;
SQLite, translated in `+"`modernc.org/sqlite`"+`, is in the public domain ("blessing").

| module | version | licence |
|---|---|---|
`, strings.Join(platforms, ", "))
	for _, m := range modules {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", m.Path, m.Version, m.Licence)
	}
	return b.String()
}

// texts are the licences of Go and all modules, whole.
func texts(modules []module) (string, error) {
	var b strings.Builder
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", err
	}
	all := append([]module{{Path: "go", Version: runtime.Version(), Dir: strings.TrimSpace(string(root)), Files: []string{"LICENSE"}}}, modules...)
	for _, m := range all {
		for _, name := range m.Files {
			text, err := os.ReadFile(filepath.Join(m.Dir, name))
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&b, "==== %s %s: %s ====\n\n%s\n\n", m.Path, m.Version, name, strings.TrimSpace(string(text)))
		}
	}
	return b.String(), nil
}
