package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fclog/fclog/analyze/dataset"
	"github.com/fclog/fclog/replay/compare"
	"github.com/fclog/fclog/rollout/formats"
)

// target is the FILE of -o. It is checked before any work against everything that
// is read: fclog never changes a log.
type target struct {
	path string
	info fs.FileInfo // nil: there is no such file yet
	help string
}

// Flags that name what is read, and folders that are written.
var (
	inputFlags  = []string{"prices", "variants", "rates", "predicted", "log", "against"}
	folderFlags = []string{"dataset", "emit"}
)

// prepare refuses command lines that name nothing or would overwrite something.
func (a *app) prepare(cmd *cobra.Command, args []string) error {
	if cmd.Hidden {
		return nil // the shell asks how a line could go on
	}
	// Not every command has it.
	a.redact, _ = cmd.Flags().GetBool("redact")
	if err := noneEmpty(cmd, args); err != nil {
		return err
	}
	for _, name := range folderFlags {
		if err := outside(cmd, "--"+name, flagValue(cmd, name)); err != nil {
			return err
		}
	}
	out := flagValue(cmd, "output")
	switch {
	case out == "" || out == "-":
		return nil
	case cmd.Name() == "import":
		return datasetFolder(cmd, out)
	}
	return a.aim(cmd, args, out)
}

// noneEmpty refuses empty names, such as those of unset shell variables.
func noneEmpty(cmd *cobra.Command, args []string) error {
	words := strings.FieldsFunc(cmd.Use, func(r rune) bool { return strings.ContainsRune(" []…'|", r) })[1:]
	for i, arg := range args {
		if arg == "" && len(words) > 0 {
			return usage(cmd, "argument %d, %s, is empty", i+1, words[min(i, len(words)-1)])
		}
	}
	var err error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Name == "output" && f.Value.String() == "" {
			err = usage(cmd, "-o names nothing")
		}
	})
	return err
}

// flagValue is the value of a flag with one; "" if the command has no such flag.
func flagValue(cmd *cobra.Command, name string) string {
	if f := cmd.Flags().Lookup(name); f != nil && f.Value.Type() == "string" {
		return f.Value.String()
	}
	return ""
}

// datasetFolder checks the DATASET of an import.
func datasetFolder(cmd *cobra.Command, dir string) error {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return usage(cmd, "-o %s is a file; it must be the folder of a dataset", dir)
	}
	return outside(cmd, "-o", dir)
}

// outside refuses a folder inside of a dataset: only parts are kept there.
func outside(cmd *cobra.Command, flag, dir string) error {
	if dir == "" {
		return nil
	}
	if in := datasetAbove(realTarget(dir)); in != "" {
		return usage(cmd, "%s %s lies inside the dataset %s", flag, dir, in)
	}
	return nil
}

// datasetAbove is the dataset that a path lies in; "" none.
func datasetAbove(path string) string {
	path, err := filepath.Abs(path)
	if err != nil {
		return ""
	}
	for {
		up := filepath.Dir(path)
		if up == path {
			return ""
		}
		if dataset.Is(up) {
			return up
		}
		path = up
	}
}

// aim checks the FILE of -o against what the command line names.
func (a *app) aim(cmd *cobra.Command, args []string, path string) error {
	t := &target{path: path, help: cmd.CommandPath()}
	if info, err := os.Stat(path); err == nil {
		t.info = info
	}
	if err := t.place(cmd); err != nil {
		return err
	}
	for _, p := range named(cmd, args) {
		if err := t.spare(p, "is read here; name another file"); err != nil {
			return err
		}
	}
	if err := t.spare(a.ownPrices(), "holds FreeCode's prices"); err != nil {
		return err
	}
	if t.info != nil && t.info.Mode().IsRegular() {
		if _, err := formats.Detect(path); err == nil {
			return t.refuse("is a session log, which fclog never overwrites")
		}
	}
	a.target = t
	return nil
}

// named lists the files and folders a command line reads.
func named(cmd *cobra.Command, args []string) []string {
	out := append([]string{}, args...)
	for _, name := range inputFlags {
		f := cmd.Flags().Lookup(name)
		if f == nil {
			continue
		}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			out = append(out, list.GetSlice()...)
			continue
		}
		out = append(out, f.Value.String())
	}
	return out
}

// place checks where the file is to stand.
func (t *target) place(cmd *cobra.Command) error {
	if t.info != nil && t.info.IsDir() {
		return t.refuse("is a folder")
	}
	if t.info != nil && !t.info.Mode().IsRegular() {
		return nil
	}
	real := realTarget(t.path)
	if dir := datasetAbove(real); dir != "" {
		return t.refuse("lies inside the dataset " + dir)
	}
	for _, name := range folderFlags {
		if dir := flagValue(cmd, name); dir != "" && below(real, realTarget(dir)) {
			return t.refuse("lies inside the folder of --" + name)
		}
	}
	_, err := os.Stat(filepath.Dir(real))
	return writing(t.path, err)
}

// below tells whether a path is a folder or lies in it.
func below(path, dir string) bool {
	path, err := filepath.Abs(path)
	if err != nil {
		return false
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return false
	}
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}

// spare refuses the target if it is the file path, under whatever name.
func (t *target) spare(path, what string) error {
	if t == nil || t.info == nil || path == "" || t.info.Mode()&fs.ModeCharDevice != 0 {
		return nil
	}
	if info, err := os.Stat(path); err == nil && os.SameFile(info, t.info) {
		return t.refuse(what)
	}
	return nil
}

func (t *target) refuse(what string) error {
	return usageError{err: fmt.Errorf("-o %s %s", t.path, what), help: t.help}
}

// spareAll refuses the target if it is one of the logs found, belongs to one, or
// was met where logs are and may be a damaged one.
func (t *target) spareAll(files []formats.File, skipped []formats.Skipped) error {
	if t == nil || t.info == nil {
		return nil
	}
	for _, f := range files {
		for _, path := range sources(f) {
			if err := t.spare(path, "is read here; name another file"); err != nil {
				return err
			}
		}
	}
	for _, s := range skipped {
		if s.Foreign {
			continue
		}
		if err := t.spare(s.Path, "is among the files named and may be a damaged log"); err != nil {
			return err
		}
	}
	return nil
}

// sources are the files that the sessions of a log are read from.
func sources(f formats.File) []string {
	out := []string{f.Path, compare.HarborBeside(f.Path)}
	if f.Format.Depends != nil {
		out = append(out, f.Format.Depends(f.Path)...)
	}
	if f.Format.Companions != nil {
		out = append(out, f.Format.Companions(f.Path)...)
	}
	return out
}
