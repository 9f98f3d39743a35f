// Package slurm_test runs the job array on a Slurm of its own.
package slurm_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/fleet/fleettest"
	"github.com/fclog/fclog/internal/homes"
)

const (
	shards  = 8
	logSize = 8 << 20 // bytes of each of two agents
)

// TestJobArray: eight shards on two nodes. One node is killed half-way, together with
// its task; a task of the other node is killed alone. The first is queued again by
// Slurm, the second is found by fclog shards and submitted again. What comes of it is,
// byte by byte, what one process makes.
func TestJobArray(t *testing.T) {
	needSlurm(t)
	dir := t.TempDir()
	fclog, logs, dataset := fleettest.Build(t, dir), filepath.Join(dir, "logs"), filepath.Join(dir, "dataset")
	for _, agent := range []string{"freecode", "codex"} {
		_, err := homes.Write(filepath.Join(logs, agent), homes.Options{Agent: agent, Bytes: logSize, Seed: 1})
		require.NoError(t, err)
	}
	c := startCluster(t, fclog)
	whole, plain := filepath.Join(dir, "whole"), filepath.Join(dir, "plain")
	c.run(fclog, "import", logs, "-o", whole, "--shard", "1/1")
	c.run(fclog, "import", logs, "-o", plain)

	of := strconv.Itoa(shards)
	job := c.submit("1-"+of, of, dataset, logs)
	alone, withNode := c.stopHalfWay(dataset, logs, "node1"), c.stopHalfWay(dataset, logs, "node2")
	require.NoError(t, syscall.Kill(alone.pid, syscall.SIGKILL))
	c.killNode(withNode)
	c.finish(job)

	out, err := c.try(fclog, "shards", dataset, logs, "--of", of, "--missing")
	var exit *exec.ExitError
	require.True(t, errors.As(err, &exit), out)
	assert.Equal(t, 1, exit.ExitCode())
	left, _, _ := strings.Cut(out, "\n")
	require.Equal(t, strconv.Itoa(alone.shard), left, "the task that died alone, and no other")
	log, err := os.ReadFile(c.path(fmt.Sprintf("fclog-import-%s_%d.log", job, withNode.shard)))
	require.NoError(t, err)
	assert.Contains(t, string(log), fmt.Sprintf("shard %d/%d on node2, start 0", withNode.shard, shards))
	assert.Contains(t, string(log), fmt.Sprintf("shard %d/%d on node1, start 1", withNode.shard, shards), "it was queued again")

	c.finish(c.submit(left, of, dataset, logs))
	c.run(fclog, "shards", dataset, logs, "--of", of)
	assert.Equal(t, fleettest.Files(t, whole), fleettest.Files(t, dataset), "each file, each byte")
	c.run(fclog, "verify", dataset)
	for _, d := range []string{plain, dataset, whole} {
		c.run(fclog, "import", "--compact", d)
	}
	assert.Equal(t, fleettest.Files(t, whole), fleettest.Files(t, dataset), "merged")
	assert.Equal(t, fleettest.Files(t, plain), fleettest.Files(t, dataset), "and as an import without shards, merged")
}

// stopHalfWay waits for a task of a node that has written some of its parts and not
// all, and stops it there.
func (c *cluster) stopHalfWay(dataset, logs, node string) (found task) {
	c.t.Helper()
	c.until("a task on "+node+" is half-way", func() bool {
		for _, r := range c.running() {
			if r.node != node || syscall.Kill(r.pid, syscall.SIGSTOP) != nil {
				continue
			}
			if held, missing := c.standing(dataset, logs, r.shard); held > 0 && missing > 0 {
				found = r
				return true
			}
			syscall.Kill(r.pid, syscall.SIGCONT)
			time.Sleep(50 * time.Millisecond)
		}
		return false
	})
	return found
}

// standing is how many files of a shard have a part, and how many have none.
func (c *cluster) standing(dataset, logs string, shard int) (held, missing int) {
	cmd := exec.Command(c.fclog, "shards", dataset, logs, "--of", strconv.Itoa(shards), "--format", "json")
	out, _ := cmd.Output() // its status says that some are missing
	var r struct {
		Shards []struct{ Held, Missing int }
	}
	require.NoError(c.t, json.Unmarshal(out, &r))
	return r.Shards[shard-1].Held, r.Shards[shard-1].Missing
}
