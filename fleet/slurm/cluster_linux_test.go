package slurm_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// cluster is a Slurm of its own: munged, slurmctld and two slurmd, below one folder.
type cluster struct {
	t      *testing.T
	dir    string
	start  time.Time
	nodes  map[string]*exec.Cmd // slurmd by node
	fclog  string
	script string
}

// daemons are the programs a cluster needs.
var daemons = []string{"munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol"}

// needSlurm skips the test where Slurm was not asked for or cannot run.
func needSlurm(t *testing.T) {
	t.Helper()
	if os.Getenv("FCLOG_SLURM") == "" {
		t.Skip("set FCLOG_SLURM=1 to run it on a Slurm of its own, or run: make test-fleet")
	}
	for _, d := range daemons {
		if _, err := exec.LookPath(d); err != nil {
			t.Skipf("Slurm is not installed: %v; Debian: apt-get install slurmctld slurmd slurm-client munge", err)
		}
	}
	if os.Getuid() != 0 {
		t.Skip("the daemons of Slurm need root")
	}
}

func startCluster(t *testing.T, fclog string) *cluster {
	t.Helper()
	script, err := filepath.Abs("import.sbatch")
	require.NoError(t, err)
	c := &cluster{t: t, start: time.Now(), dir: shortDir(t), nodes: map[string]*exec.Cmd{}, fclog: fclog, script: script}
	for _, sub := range []string{"munge", "state", "log", "spool/node1", "spool/node2"} {
		require.NoError(t, os.MkdirAll(filepath.Join(c.dir, sub), 0o755))
	}
	key := make([]byte, 1024)
	_, err = rand.Read(key)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(c.path("munge/key"), key, 0o600))
	require.NoError(t, os.WriteFile(c.path("slurm.conf"), []byte(c.config()), 0o644))

	c.daemon("munged", "--foreground", "--force", "--key-file="+c.path("munge/key"), "--socket="+c.path("munge/socket"),
		"--pid-file="+c.path("munge/pid"), "--log-file="+c.path("munge/log"), "--seed-file="+c.path("munge/seed"))
	c.until("munged is up", func() bool { _, err := os.Stat(c.path("munge/socket")); return err == nil })
	c.daemon("slurmctld", "-D", "-c")
	for _, node := range []string{"node1", "node2"} {
		c.nodes[node] = c.daemon("slurmd", "-D", "-N", node)
	}
	c.until("both nodes are idle", func() bool {
		out, _ := c.try("sinfo", "--noheader", "--Node", "--format=%N %t")
		return strings.Contains(out, "node1 idle") && strings.Contains(out, "node2 idle")
	})
	return c
}

// shortDir is a folder with a short name: paths of sockets are limited.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "fcs")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o755))
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func (c *cluster) path(name string) string { return filepath.Join(c.dir, filepath.FromSlash(name)) }

func (c *cluster) config() string {
	raw, err := os.ReadFile("testdata/slurm.conf")
	require.NoError(c.t, err)
	host, err := os.Hostname()
	require.NoError(c.t, err)
	host, _, _ = strings.Cut(host, ".")
	words := []string{"HOST", host, "DIR", c.dir}
	for i, port := range freePorts(c.t, 3) {
		words = append(words, fmt.Sprintf("PORT%d", i), strconv.Itoa(port))
	}
	return strings.NewReplacer(words...).Replace(string(raw))
}

func freePorts(t *testing.T, n int) (ports []int) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports
}

func (c *cluster) environ() []string {
	return append(os.Environ(), "SLURM_CONF="+c.path("slurm.conf"), "FCLOG="+c.fclog)
}

// daemon starts a program that ends with the test.
func (c *cluster) daemon(name string, args ...string) *exec.Cmd {
	c.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = c.environ()
	out := &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = out, out
	require.NoError(c.t, cmd.Start())
	c.t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		stop := time.AfterFunc(10*time.Second, func() { cmd.Process.Kill() })
		cmd.Wait()
		stop.Stop()
		if c.t.Failed() {
			c.t.Logf("%s:\n%s", name, out.String())
		}
	})
	return cmd
}

func (c *cluster) try(name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env, cmd.Dir = c.environ(), c.dir
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// run runs a program that must succeed.
func (c *cluster) run(name string, args ...string) string {
	c.t.Helper()
	out, err := c.try(name, args...)
	require.NoError(c.t, err, "%s %s\n%s", name, strings.Join(args, " "), out)
	return out
}

// patience is how long anything that has to happen may take.
const patience = 2 * time.Minute

func (c *cluster) until(what string, done func() bool) {
	c.t.Helper()
	for end := time.Now().Add(patience); !done(); time.Sleep(50 * time.Millisecond) {
		require.True(c.t, time.Now().Before(end), "in vain waited until %s", what)
	}
	c.t.Logf("%6.1f s: %s", time.Since(c.start).Seconds(), what)
}

// submit submits tasks of the script and returns the ID of the job.
func (c *cluster) submit(array string, args ...string) string {
	c.t.Helper()
	return c.run("sbatch", append([]string{"--parsable", "--array=" + array, c.script}, args...)...)
}

// finish waits until no task waits or runs. Slurm holds a task that it queues again
// for two minutes; an operator who does not want to wait lets it start at once.
func (c *cluster) finish(job string) {
	c.t.Helper()
	c.until("all tasks have ended", func() bool {
		out := c.run("squeue", "--noheader", "--array", "--job="+job, "--states=PENDING,RUNNING,COMPLETING,CONFIGURING,SUSPENDED", "--format=%A_%a %F_%K %r")
		for _, line := range strings.Split(out, "\n") {
			if fields := strings.Fields(line); len(fields) == 3 && fields[2] == "BeginTime" {
				c.try("scontrol", "update", "jobid="+fields[1], "starttime=now")
			}
		}
		return out == ""
	})
}

// task is a running fclog of a job array.
type task struct {
	pid   int
	shard int
	node  string
}

// running lists the tasks that import, from what the system knows of processes.
func (c *cluster) running() (tasks []task) {
	entries, err := os.ReadDir("/proc")
	require.NoError(c.t, err)
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		args, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if words := strings.Split(string(args), "\x00"); words[0] != c.fclog || len(words) < 2 || words[1] != "import" {
			continue
		}
		env := processEnviron(pid)
		shard, err := strconv.Atoi(env["SLURM_ARRAY_TASK_ID"])
		if err == nil {
			tasks = append(tasks, task{pid: pid, shard: shard, node: env["SLURMD_NODENAME"]})
		}
	}
	return tasks
}

func processEnviron(pid int) map[string]string {
	raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	env := map[string]string{}
	for _, line := range strings.Split(string(raw), "\x00") {
		name, value, _ := strings.Cut(line, "=")
		env[name] = value
	}
	return env
}

// parent is the process that started another one, 0 if that is gone.
func parent(pid int) int {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(raw), ") ")
	fields := strings.Fields(rest) // state, parent, …
	if len(fields) < 2 {
		return 0
	}
	ppid, _ := strconv.Atoi(fields[1])
	return ppid
}

// killNode kills all that a node is, as a power cut does: its daemon, the one that
// looks after the task, and the task.
func (c *cluster) killNode(running task) {
	c.t.Helper()
	keeper := parent(running.pid)
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", keeper))
	require.NoError(c.t, err)
	require.Equal(c.t, "slurmstepd", strings.TrimSpace(string(name)), "what started the task")
	require.NoError(c.t, c.nodes[running.node].Process.Kill())
	require.NoError(c.t, syscall.Kill(keeper, syscall.SIGKILL))
	require.NoError(c.t, syscall.Kill(running.pid, syscall.SIGKILL))
}
