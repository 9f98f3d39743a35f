package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fclog/fclog/internal/nearest"
	"github.com/fclog/fclog/rollout/formats"
)

// flagError is the error of a flag that does not exist, with the nearest one that does.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return usage(cmd, "%w", err)
	}
	if words := cmd.Flags().Args(); !cmd.HasParent() && len(words) > 0 {
		return knownCommand(cmd, words) // the flag may be one of the command that was meant
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	return usage(cmd, "%w%s", err, nearest.Hint("--"+unknown.GetSpecifiedName(), names))
}

// checkHelp makes help refuse what is no command; cobra shows the help of fclog instead.
func checkHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "help" {
			cmd.Args = func(_ *cobra.Command, args []string) error {
				if found, _, err := root.Find(args); err == nil && found != root {
					return nil
				}
				return knownCommand(root, args)
			}
		}
	}
}

// pathHint is the end of a message about a file that does not exist: what may be meant.
func pathHint(err error) string {
	var disk *fs.PathError
	if !errors.As(err, &disk) || !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if near := nearest.Path(disk.Path); near != "" {
		return fmt.Sprintf(", did you mean %s?", near)
	}
	return ""
}

// missingFile says that a file does not exist, and which one may be meant.
func missingFile(err *fs.PathError) error {
	return fmt.Errorf("cannot read %s: %w%s", err.Path, err.Err, pathHint(err))
}

// emptyMachine adds to the error of a machine without logs what to do about it.
func emptyMachine(err error) error {
	if !errors.Is(err, formats.ErrNothing) {
		return err
	}
	return fmt.Errorf("%w\nname a log file or folder, or add --demo to look at the bundled session: fclog audit --demo\n%s", err,
		"agents write logs as they work: 'fclog formats' lists the agents, 'fclog sessions FOLDER' looks elsewhere")
}
