//go:build !unix

package variants

import "os/exec"

// ownGroup has no process groups to use here: a child that times out is killed
// without what it started.
func ownGroup(cmd *exec.Cmd) {}

func endGroup(cmd *exec.Cmd) {}
