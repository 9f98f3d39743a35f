package variants

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"

	"github.com/fclog/fclog/prompts"
	"github.com/fclog/fclog/replay"
)

// ErrUnreadable marks a file that a variant names and that is there, but cannot be
// used.
var ErrUnreadable = errors.New("cannot be used")

// CheckInputs says what is missing of what a use names outside of the logs: its
// files and programs. No log could support it then.
func CheckInputs(use replay.Use) error {
	for _, step := range use.Steps {
		var err error
		switch step.Variant.Name {
		case "prompt":
			err = checkPrompt(step.Values)
		case "exec":
			err = checkProgram(step.Values)
		}
		if err != nil {
			return fmt.Errorf("variant %s: %w", step.Variant.Name, err)
		}
	}
	return nil
}

func checkPrompt(values replay.Values) error {
	if values["file"] == "" && values["add"] == "" {
		return errors.New("nothing to send: give file= or add=")
	}
	for _, option := range []string{"file", "base", "add"} {
		name := values[option]
		if name == "" {
			continue
		}
		_, err := prompts.Open(name)
		if err == nil {
			continue
		}
		if _, missing := os.Stat(name); errors.Is(missing, fs.ErrNotExist) {
			return fmt.Errorf("%s: %w", option, err)
		}
		return fmt.Errorf("%s %w: %w", option, ErrUnreadable, err)
	}
	return nil
}

func checkProgram(values replay.Values) error {
	argv, err := words(values["cmd"])
	if err != nil || len(argv) == 0 || values["sh"] == "true" {
		return err
	}
	if _, err := exec.LookPath(argv[0]); err != nil {
		return fmt.Errorf("cmd: %w", err)
	}
	return nil
}
