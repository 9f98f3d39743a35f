package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// release is the version of a released build, set by the linker.
var release = ""

// version is one line: version, commit, toolchain, platform.
func version() string {
	v, commit := release, ""
	if info, ok := debug.ReadBuildInfo(); ok {
		if v == "" {
			v = info.Main.Version
		}
		commit = commitOf(info)
	}
	if v == "" {
		v = "(devel)"
	}
	return fmt.Sprintf("fclog %s%s, %s, %s/%s", v, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func commitOf(info *debug.BuildInfo) string {
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	commit := settings["vcs.revision"]
	if commit == "" {
		return ""
	}
	out := ", commit " + commit[:min(len(commit), 12)]
	if at := settings["vcs.time"]; at != "" {
		out += " of " + at
	}
	if settings["vcs.modified"] == "true" {
		out += " with local changes"
	}
	return out
}
