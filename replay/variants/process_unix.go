//go:build unix

package variants

import (
	"os/exec"
	"syscall"
)

// ownGroup makes the end of a child the end of everything it started.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// endGroup ends what a child that is gone has left behind in its group. What has
// gone into a session of its own is out of reach.
func endGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
