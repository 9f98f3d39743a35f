package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
)

// bom is CycloneDX 1.6 (cyclonedx.org/docs/1.6/json), as far as it is used. It has
// no time and no random number: the same program gives the same bytes.
type bom struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version,omitempty"`
	PURL       string     `json:"purl,omitempty"`
	Licences   []licence  `json:"licenses,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type licence struct {
	Expression string `json:"expression"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// writeSBOM describes a built program by what the linker put into it.
func writeSBOM(binary, path string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	modules, err := modulesOf([]string{settings["GOOS"] + "/" + settings["GOARCH"]})
	if err != nil {
		return err
	}
	raw, err := json.MarshalIndent(describe(info, modules), "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(raw, '\n'), 0o644)
}

func describe(info *debug.BuildInfo, modules []module) bom {
	licences := map[string]string{}
	for _, m := range modules {
		licences[m.Path] = m.Licence
	}
	out := bom{Format: "CycloneDX", Spec: "1.6", Version: 1}
	out.Metadata.Component = component{Type: "application", Ref: purl(info.Main), Name: "fclog", Version: info.Main.Version, PURL: purl(info.Main)}
	for _, s := range info.Settings {
		out.Metadata.Component.Properties = append(out.Metadata.Component.Properties, property{"go:build:" + s.Key, s.Value})
	}
	toolchain := strings.TrimPrefix(info.GoVersion, "go")
	std := component{Type: "library", Ref: "pkg:golang/std@" + toolchain, Name: "std", Version: toolchain, PURL: "pkg:golang/std@" + toolchain, Licences: []licence{{"BSD-3-Clause"}}}
	out.Components = append(out.Components, std)
	for _, dep := range info.Deps {
		m := *dep
		if m.Replace != nil {
			m = *m.Replace
		}
		c := component{Type: "library", Ref: purl(m), Name: m.Path, Version: m.Version, PURL: purl(m)}
		if m.Sum != "" {
			c.Properties = []property{{"go:sum", m.Sum}}
		}
		if l := licences[dep.Path]; l != "" {
			c.Licences = []licence{{l}}
		}
		out.Components = append(out.Components, c)
	}
	return out
}

// purl is the package URL of a module (github.com/package-url/purl-spec, golang).
func purl(m debug.Module) string {
	if m.Version == "" {
		return "pkg:golang/" + m.Path
	}
	return fmt.Sprintf("pkg:golang/%s@%s", m.Path, strings.ReplaceAll(m.Version, "+", "%2B"))
}
