package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLicencesAreListed: every module the program is linked from stands on the page,
// in its version, and nothing else does.
func TestLicencesAreListed(t *testing.T) {
	modules, err := modulesOf(platforms)
	require.NoError(t, err)
	require.Greater(t, len(modules), 40)
	have, err := os.ReadFile("../../docs/licences.md")
	require.NoError(t, err)
	assert.Equal(t, page(modules), string(have), "run: make licences")
	for _, m := range modules {
		assert.NotEmpty(t, m.Files, m.Path)
		assert.NotContains(t, m.Licence, "GPL", "%s: what it asks for has to be looked at", m.Path)
	}
}

func TestLicencesAreToldApart(t *testing.T) {
	two := "Redistribution and use ... this list of conditions and the\n// following disclaimer in the documentation ..."
	assert.Equal(t, []string{"BSD-2-Clause"}, licencesIn(two))
	assert.Equal(t, []string{"BSD-3-Clause"}, licencesIn(two+" may be used to endorse or promote\n   products derived from this software"))
	assert.Equal(t, []string{"Apache-2.0"}, licencesIn("Apache License\n   Version 2.0, January 2004"))
	assert.Empty(t, licencesIn("All rights reserved."))
}

// TestSBOM describes what is built in, this test itself.
func TestSBOM(t *testing.T) {
	info := &debug.BuildInfo{
		GoVersion: "go1.26.8",
		Main:      debug.Module{Path: program, Version: "v0.9.0"},
		Deps: []*debug.Module{
			{Path: "example.org/a", Version: "v1.2.3+incompatible", Sum: "h1:x"},
			{Path: "example.org/b", Version: "v1.0.0", Replace: &debug.Module{Path: "example.org/c", Version: "v2.0.0"}},
		},
		Settings: []debug.BuildSetting{{Key: "GOOS", Value: "linux"}},
	}
	out := describe(info, []module{{Path: "example.org/a", Licence: "MIT"}})
	raw, err := json.Marshal(out)
	require.NoError(t, err)
	assert.JSONEq(t, `{"bomFormat":"CycloneDX","specVersion":"1.6","version":1,
	 "metadata":{"component":{"type":"application","bom-ref":"pkg:golang/github.com/fclog/fclog@v0.9.0","name":"fclog","version":"v0.9.0","purl":"pkg:golang/github.com/fclog/fclog@v0.9.0","properties":[{"name":"go:build:GOOS","value":"linux"}]}},
	 "components":[
	  {"type":"library","bom-ref":"pkg:golang/std@1.26.8","name":"std","version":"1.26.8","purl":"pkg:golang/std@1.26.8","licenses":[{"expression":"BSD-3-Clause"}]},
	  {"type":"library","bom-ref":"pkg:golang/example.org/a@v1.2.3%2Bincompatible","name":"example.org/a","version":"v1.2.3+incompatible","purl":"pkg:golang/example.org/a@v1.2.3%2Bincompatible","licenses":[{"expression":"MIT"}],"properties":[{"name":"go:sum","value":"h1:x"}]},
	  {"type":"library","bom-ref":"pkg:golang/example.org/c@v2.0.0","name":"example.org/c","version":"v2.0.0","purl":"pkg:golang/example.org/c@v2.0.0"}]}`, string(raw))
}

// TestBuildIsReproducible builds the program at two paths, from two module roots, with
// the flags of the Makefile, and compares the bytes.
func TestBuildIsReproducible(t *testing.T) {
	if testing.Short() {
		t.Skip("links the program twice")
	}
	if runtime.GOOS == "windows" {
		t.Skip("copies the tree with cp")
	}
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	flags := strings.Fields(makeVariable(t, root, "REPRODUCIBLE"))
	require.Contains(t, flags, "-trimpath")
	require.Contains(t, flags, "-buildvcs=false")
	var builds [2][]byte
	for i := range builds {
		dir := filepath.Join(t.TempDir(), strings.Repeat("deeper/", i), "tree")
		require.NoError(t, os.MkdirAll(dir, 0o700))
		copyTree(t, root, dir)
		cmd := exec.Command("go", append(append([]string{"build"}, flags...), "-ldflags", "-s -w -X main.release=v0.0.0-test", "-o", "fclog-test", "./cmd/fclog")...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		builds[i], err = os.ReadFile(filepath.Join(dir, "fclog-test"))
		require.NoError(t, err)
	}
	require.NotEmpty(t, builds[0])
	assert.True(t, string(builds[0]) == string(builds[1]), "two builds differ")
	assert.NotContains(t, string(builds[0]), root, "the program tells where it was built")
}

// makeVariable is the value of a variable of the Makefile.
func makeVariable(t *testing.T, root, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, "Makefile"))
	require.NoError(t, err)
	for line := range strings.Lines(string(raw)) {
		if key, value, ok := strings.Cut(line, ":="); ok && strings.TrimSpace(key) == name {
			return value
		}
	}
	require.Fail(t, "the Makefile has no variable "+name)
	return ""
}

// copyTree copies what Git knows of.
func copyTree(t *testing.T, from, to string) {
	t.Helper()
	list := exec.Command("git", "ls-files", "-z")
	list.Dir = from
	names, err := list.Output()
	if err != nil {
		t.Skip("not in a Git checkout")
	}
	for name := range strings.SplitSeq(strings.Trim(string(names), "\x00"), "\x00") {
		content, err := os.ReadFile(filepath.Join(from, name))
		if os.IsNotExist(err) {
			continue
		}
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(to, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(to, name), content, 0o600))
	}
}
