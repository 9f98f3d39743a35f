// Package kubernetes_test holds the manifest against the API that it is for.
package kubernetes_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

func manifest(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile("import.yaml")
	require.NoError(t, err)
	return string(raw)
}

// job is what the API server checks beyond names and types of fields, and what the
// command is made of.
type job struct {
	Spec struct {
		CompletionMode       string `yaml:"completionMode"`
		Completions          int    `yaml:"completions"`
		Parallelism          int    `yaml:"parallelism"`
		BackoffLimit         *int   `yaml:"backoffLimit"`
		BackoffLimitPerIndex int    `yaml:"backoffLimitPerIndex"`
		MaxFailedIndexes     int    `yaml:"maxFailedIndexes"`
		PodFailurePolicy     struct {
			Rules []struct {
				Action      string `yaml:"action"`
				OnExitCodes *struct {
					ContainerName string `yaml:"containerName"`
					Values        []int  `yaml:"values"`
				} `yaml:"onExitCodes"`
			} `yaml:"rules"`
		} `yaml:"podFailurePolicy"`
		Template struct {
			Spec struct {
				RestartPolicy string `yaml:"restartPolicy"`
				Containers    []struct {
					Name         string   `yaml:"name"`
					Command      []string `yaml:"command"`
					Args         []string `yaml:"args"`
					Env          []struct{ Name, Value string }
					VolumeMounts []struct {
						Name     string `yaml:"name"`
						ReadOnly bool   `yaml:"readOnly"`
					} `yaml:"volumeMounts"`
				} `yaml:"containers"`
				Volumes []struct {
					Name string `yaml:"name"`
				} `yaml:"volumes"`
			} `yaml:"spec"`
		} `yaml:"template"`
	} `yaml:"spec"`
}

// TestRules: the rules between fields that the API server has for Indexed Jobs
// (kubernetes.io/docs/concepts/workloads/controllers/job).
func TestRules(t *testing.T) {
	t.Parallel()
	var j job
	require.NoError(t, yaml.Unmarshal([]byte(manifest(t)), &j))
	s := j.Spec
	assert.Equal(t, "Indexed", s.CompletionMode)
	assert.LessOrEqual(t, s.Parallelism, s.Completions)
	assert.LessOrEqual(t, s.MaxFailedIndexes, s.Completions)
	assert.Nil(t, s.BackoffLimit, "with a limit per index it is left to its default")
	assert.Equal(t, "Never", s.Template.Spec.RestartPolicy, "both policies need it")
	require.Len(t, s.Template.Spec.Containers, 1)
	c := s.Template.Spec.Containers[0]
	for _, rule := range s.PodFailurePolicy.Rules {
		if on := rule.OnExitCodes; on != nil {
			assert.Equal(t, c.Name, on.ContainerName)
			assert.NotContains(t, on.Values, 0)
		}
	}
	volumes := map[string]bool{}
	for _, v := range s.Template.Spec.Volumes {
		volumes[v.Name] = true
	}
	for _, m := range c.VolumeMounts {
		assert.True(t, volumes[m.Name], m.Name)
		assert.Equal(t, m.Name == "logs", m.ReadOnly, "the logs, and only they, are read-only")
	}
	assert.Equal(t, []struct{ Name, Value string }{{"SHARDS", strconv.Itoa(s.Completions)}}, c.Env, "as many shards as indices")
}

// TestCommand runs the container's command with a fclog that says what it is asked.
func TestCommand(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("the command is for a POSIX shell")
	}
	var j job
	require.NoError(t, yaml.Unmarshal([]byte(manifest(t)), &j))
	c := j.Spec.Template.Spec.Containers[0]
	bin := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(bin, "fclog"), []byte("#!/bin/sh\nfor a in \"$@\"; do echo \"$a\"; done\n"), 0o755))
	for index, shard := range map[string]string{"0": "1/16", "15": "16/16"} {
		cmd := exec.Command(c.Command[0], append(c.Command[1:], c.Args...)...)
		cmd.Env = []string{"PATH=" + bin + ":/bin:/usr/bin", "JOB_COMPLETION_INDEX=" + index, "SHARDS=16"}
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		assert.Equal(t, "import\n/logs\n-o\n/dataset/fclog\n--shard\n"+shard+"\n", string(out))
	}
}

// TestSchema holds the manifest against what is generated from the OpenAPI schema of
// Kubernetes: the types know every field and refuse others, the validator knows what
// is required. That both find what is wrong is shown on manifests with mistakes.
func TestSchema(t *testing.T) {
	t.Parallel()
	if os.Getenv("FCLOG_KUBERNETES") == "" {
		t.Skip("set FCLOG_KUBERNETES=1 to install the schema from npm, or run: make test-fleet")
	}
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("npm is missing; the schema comes from it")
	}
	dir := t.TempDir()
	install := exec.Command("npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", dir, "kubernetes-models@4.5.1", "typescript@5.9.3")
	if out, err := install.CombinedOutput(); err != nil {
		t.Skipf("npm could not install the schema: %v\n%s", err, out)
	}
	whole := manifest(t)
	for _, c := range []struct{ what, old, new, complaint string }{
		{what: "as it is"},
		{"a field that does not exist", "backoffLimitPerIndex:", "backoffLimitPerIndexes:", "backoffLimitPerIndexes"},
		{"a field at the wrong depth", "      restartPolicy: Never", "      completions: 3", "completions"},
		{"a text for a number", "parallelism: 4", "parallelism: four", "parallelism"},
		{"a number for a text", `value: "16"`, "value: 16", "value"},
		{"a required field left out", "          operator: In\n", "", "operator"},
	} {
		text := whole
		if c.old != "" {
			require.Equal(t, 1, strings.Count(whole, c.old), c.what)
			text = strings.Replace(whole, c.old, c.new, 1)
		}
		out := check(t, dir, text)
		if c.complaint == "" {
			assert.Empty(t, out, c.what)
			continue
		}
		assert.Contains(t, out, c.complaint, c.what)
	}
}

// check returns what types and validator say against a manifest, "" nothing.
func check(t *testing.T, dir, text string) string {
	t.Helper()
	var v any
	require.NoError(t, yaml.Unmarshal([]byte(text), &v))
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	write := func(name, content string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	write("job.ts", `import type { IJob } from "kubernetes-models/batch/v1/Job";`+"\nexport const job: IJob = "+string(raw)+";\n")
	write("job.js", `const { Job } = require("kubernetes-models/batch/v1/Job");`+"\ntry { new Job("+string(raw)+").validate(); } catch (e) { console.log(e.message); }\n")
	said := ""
	for _, args := range [][]string{
		{"node_modules/typescript/bin/tsc", "--noEmit", "--strict", "--skipLibCheck", "--module", "commonjs", "job.ts"},
		{"job.js"},
	} {
		cmd := exec.Command("node", args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if len(out) == 0 {
			require.NoError(t, err)
		}
		said += string(out)
	}
	return said
}
