// Package objectstore_test copies datasets to an S3 server of its own and asks them there.
package objectstore_test

import (
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/fleet/fleettest"
	"github.com/fclog/fclog/internal/clickhouse"
	"github.com/fclog/fclog/internal/homes"
)

const (
	accessKey = "fclog"
	secretKey = "only for this test"
)

// store is an S3 server on loopback with one bucket, and rclone's settings for it.
type store struct {
	t   *testing.T
	url string
	env []string // of commands that are to reach it
}

// programs finds the server and rclone, or skips the test.
func programs(t *testing.T) (server string) {
	t.Helper()
	if os.Getenv("FCLOG_S3") == "" {
		t.Skip("set FCLOG_S3=1 to run it on an S3 server of its own, or run: make test-s3")
	}
	server, err := filepath.Abs(filepath.Join("..", "..", "bin", "versitygw"))
	require.NoError(t, err)
	require.FileExists(t, server, "run: make install-s3")
	_, err = exec.LookPath("rclone")
	require.NoError(t, err, "run: make install-s3")
	return server
}

func startStore(t *testing.T, server string) *store {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	require.NoError(t, listener.Close())
	dir := t.TempDir()
	s := &store{t: t, url: "http://" + address}
	buckets, attributes := filepath.Join(dir, "buckets"), filepath.Join(dir, "attributes")
	for _, folder := range []string{buckets, attributes} {
		require.NoError(t, os.Mkdir(folder, 0o700))
	}
	// Attributes of objects in files beside them: not every file system has room for them.
	cmd := exec.Command(server, "--port", address, "--quiet", "posix", "--sidecar", attributes, buckets)
	cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+accessKey, "ROOT_SECRET_KEY="+secretKey)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	require.Eventually(t, func() bool {
		answer, err := http.Get(s.url)
		if err == nil {
			answer.Body.Close()
		}
		return err == nil
	}, time.Minute, 50*time.Millisecond, "the server does not answer")
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); !strings.HasPrefix(name, "AWS_") && !strings.HasPrefix(name, "RCLONE_") && !strings.Contains(strings.ToLower(name), "proxy") {
			s.env = append(s.env, v)
		}
	}
	s.env = append(s.env, "RCLONE_CONFIG="+os.DevNull, "RCLONE_CONFIG_STORE_TYPE=s3", "RCLONE_CONFIG_STORE_PROVIDER=Other", "RCLONE_CONFIG_STORE_REGION=us-east-1",
		"RCLONE_CONFIG_STORE_ENDPOINT="+s.url, "RCLONE_CONFIG_STORE_ACCESS_KEY_ID="+accessKey, "RCLONE_CONFIG_STORE_SECRET_ACCESS_KEY="+secretKey)
	s.run("rclone", "mkdir", "store:logs")
	return s
}

// run runs a command with the store's settings and returns what it printed.
func (s *store) run(name string, args ...string) string {
	s.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = s.env
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(s.t, err, "%s %s: %s", name, strings.Join(args, " "), stderr.String())
	return string(out)
}

func (s *store) push(dataset, place string) { s.t.Helper(); s.run("./push.sh", dataset, place) }

// pull copies into a new folder and returns it.
func (s *store) pull(place string) string {
	s.t.Helper()
	dir := filepath.Join(s.t.TempDir(), "pulled")
	s.run("./pull.sh", place, dir)
	return dir
}

// TestTwoMachinesOneBucket: two machines import a shard each into a dataset of their
// own and push it to one place. What is pulled from there is, merged, byte by byte
// what one machine makes, and imports go on in it.
func TestTwoMachinesOneBucket(t *testing.T) {
	server := programs(t)
	dir := t.TempDir()
	fclog, logs := fleettest.Build(t, dir), madeLogs(t, dir)
	s := startStore(t, server)
	whole := filepath.Join(dir, "whole")
	s.run(fclog, "import", logs, "-o", whole)
	s.env = append(s.env, "KEEP=1")
	for _, shard := range []string{"1/2", "2/2"} {
		own := filepath.Join(dir, "shard-"+shard[:1])
		s.run(fclog, "import", logs, "-o", own, "--shard", shard)
		s.push(own, "store:logs/both")
	}
	pulled := s.pull("store:logs/both")
	s.run(fclog, "verify", pulled)
	for _, d := range []string{whole, pulled} {
		s.run(fclog, "import", "--compact", d)
	}
	assert.Equal(t, fleettest.Files(t, whole), fleettest.Files(t, pulled))
	assert.Contains(t, s.run(fclog, "import", logs, "-o", pulled), "0 files imported, 0 changed files read again")
}

// TestPushAgain: after a log has grown and after a merge the place in the store holds
// what the dataset holds and nothing else. That no part counts by half while files are
// on their way is held by TestCopyInOrder of package analyze.
func TestPushAgain(t *testing.T) {
	server := programs(t)
	dir := t.TempDir()
	fclog, logs, dataset := fleettest.Build(t, dir), madeLogs(t, dir), filepath.Join(dir, "dataset")
	s := startStore(t, server)
	grown := shorten(t, logs)
	s.run(fclog, "import", logs, "-o", dataset)
	s.push(dataset, "store:logs/fleet")
	for _, change := range []func(){
		func() { grown(); s.run(fclog, "import", logs, "-o", dataset) },
		func() { s.run(fclog, "import", "--compact", dataset) },
	} {
		change()
		s.push(dataset, "store:logs/fleet")
		pulled := s.pull("store:logs/fleet")
		assert.Equal(t, fleettest.Files(t, dataset), fleettest.Files(t, pulled))
		s.run(fclog, "verify", pulled)
	}
}

// TestClickHouseReadsTheBucket: the tables that fclog prints for an address give there
// what fclog's own give of the dataset.
func TestClickHouseReadsTheBucket(t *testing.T) {
	server := programs(t)
	engine, err := clickhouse.Find(filepath.Join("..", ".."))
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	fclog, dataset := fleettest.Build(t, dir), filepath.Join(dir, "dataset")
	s := startStore(t, server)
	s.run(fclog, "import", madeLogs(t, dir), "-o", dataset)
	s.push(dataset, "store:logs/fleet")
	t.Setenv("AWS_ACCESS_KEY_ID", accessKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", secretKey)
	for _, proxy := range []string{"NO_PROXY", "no_proxy"} {
		t.Setenv(proxy, "127.0.0.1")
	}
	setup := s.run(fclog, "query", s.url+"/logs/fleet", "--clickhouse")
	question := "SELECT model, count(*) AS requests, sum(input_tokens) AS input, sum(output_tokens) AS output FROM requests GROUP BY 1 ORDER BY 1"
	answers, err := engine.Run(t.Context(), setup, []clickhouse.Query{{Name: "models", SQL: question}})
	require.NoError(t, err)
	require.NoError(t, answers["models"].Err)
	var want []map[string]any
	d := json.NewDecoder(strings.NewReader(s.run(fclog, "query", dataset, question, "--format", "json")))
	d.UseNumber()
	require.NoError(t, d.Decode(&want))
	require.NotEmpty(t, want)
	assert.Equal(t, inOrder(want, answers["models"].Columns), answers["models"].Rows)
}

// inOrder is the values of rows in the order of columns.
func inOrder(rows []map[string]any, columns []string) [][]any {
	out := make([][]any, len(rows))
	for i, row := range rows {
		for _, c := range columns {
			out[i] = append(out[i], row[c])
		}
	}
	return out
}

func madeLogs(t *testing.T, dir string) string {
	t.Helper()
	logs := filepath.Join(dir, "logs")
	for _, agent := range []string{"claude-code", "codex"} {
		_, err := homes.Write(filepath.Join(logs, agent), homes.Options{Agent: agent, Bytes: 2 << 20, Seed: 1})
		require.NoError(t, err)
	}
	return logs
}

// shorten takes the last third of the records off every third log. What it returns
// puts them back.
func shorten(t *testing.T, logs string) (restore func()) {
	t.Helper()
	whole := map[string][]byte{}
	paths, err := filepath.Glob(filepath.Join(logs, "claude-code", "projects", "*", "*.jsonl"))
	require.NoError(t, err)
	for i := 0; i < len(paths); i += 3 {
		raw, err := os.ReadFile(paths[i])
		require.NoError(t, err)
		whole[paths[i]] = raw
		lines := strings.SplitAfter(string(raw), "\n")
		require.NoError(t, os.WriteFile(paths[i], []byte(strings.Join(lines[:len(lines)*2/3], "")), 0o600))
	}
	require.NotEmpty(t, whole)
	return func() {
		for path, raw := range whole {
			require.NoError(t, os.WriteFile(path, raw, 0o600))
		}
	}
}
