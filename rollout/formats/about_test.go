package formats

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/devdata"
	"github.com/fclog/fclog/rollout"
)

// TestAboutNamesWhatLogsLack holds what each format says its logs lack against
// what its reader finds missing.
func TestAboutNamesWhatLogsLack(t *testing.T) {
	for _, root := range []string{filepath.Join("..", "..", "testdata"), os.Getenv("FCLOG_DATA")} {
		if root == "" {
			continue
		}
		everySession(t, root, func(f Format, s *rollout.Session) {
			for _, what := range s.Missing {
				assert.True(t, slices.ContainsFunc(f.About.Lacks, func(l rollout.Lack) bool { return l.What == what }), "%s does not say that %q may be missing, as in %s", f.Name, what, s.File)
			}
			for _, l := range f.About.Lacks {
				assert.True(t, l.When != "" || slices.Contains(s.Missing, l.What), "%s says that %q is always missing, but not in %s", f.Name, l.What, s.File)
			}
		})
	}
}

// TestAboutVersions: the versions named are those of the real logs. A log that
// names none is known by the folder it was captured in. ATIF names the version
// of its own form, not of an agent.
func TestAboutVersions(t *testing.T) {
	root := devdata.Dir(t)
	seen := map[string][]string{}
	everySession(t, root, func(f Format, s *rollout.Session) {
		if s.AgentVersion != "" && f.Name != "atif" {
			seen[f.Name] = append(seen[f.Name], s.AgentVersion)
		}
	})
	captured, err := os.ReadDir(filepath.Join(root, "wire"))
	require.NoError(t, err)
	for _, dir := range captured {
		at := strings.LastIndex(dir.Name(), "-")
		seen[dir.Name()[:at]] = append(seen[dir.Name()[:at]], dir.Name()[at+1:])
	}
	for _, f := range All() {
		if f.Name == "atif" {
			continue
		}
		want := slices.Compact(slices.Sorted(slices.Values(seen[f.Name])))
		var got []string
		for _, v := range f.About.Versions {
			got = append(got, v[strings.LastIndex(v, " ")+1:])
		}
		assert.ElementsMatch(t, want, got, f.Name)
	}
}

func TestAboutIsWhole(t *testing.T) {
	for _, f := range All() {
		assert.NotEmpty(t, f.About.Carriers, f.Name)
		assert.NotEmpty(t, f.About.Lacks, f.Name)
		assert.NotEmpty(t, f.About.Limits, f.Name)
		assert.True(t, f.About.Unversioned || len(f.About.Versions) > 0, f.Name)
		homes := f.Homes(func(key string) string { return map[string]string{"HOME": "/home/u"}[key] })
		assert.NotEqual(t, len(homes) == 0, f.About.Places == "", "%s: homes, or a word where to look", f.Name)
	}
}

func everySession(t *testing.T, root string, visit func(Format, *rollout.Session)) {
	t.Helper()
	files, _, err := Expand(context.Background(), []string{root})
	require.NoError(t, err)
	for _, f := range files {
		sessions, err := f.Format.Read(context.Background(), f.Path)
		require.NoError(t, err, f.Path)
		for _, s := range sessions {
			visit(f.Format, s)
		}
	}
}
