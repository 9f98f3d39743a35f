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
