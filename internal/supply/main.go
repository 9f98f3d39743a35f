// Command supply tells what fclog is made of: the licences of its modules and a
// software bill of materials of a built program.
//
//	supply licences PAGE TEXTS      writes the page docs/licences.md and all licence texts
//	supply sbom BINARY FILE         writes CycloneDX 1.6 JSON
package main

import (
	"errors"
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "supply:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 3 {
		return errors.New("want: licences PAGE TEXTS, or: sbom BINARY FILE")
	}
	switch args[0] {
	case "licences":
		return writeLicences(args[1], args[2])
	case "sbom":
		return writeSBOM(args[1], args[2])
	}
	return fmt.Errorf("unknown command %q", args[0])
}

func writeLicences(pagePath, textsPath string) error {
	modules, err := modulesOf(platforms)
	if err != nil {
		return err
	}
	if err := os.WriteFile(pagePath, []byte(page(modules)), 0o644); err != nil {
		return err
	}
	texts, err := texts(modules)
	if err != nil {
		return err
	}
	return os.WriteFile(textsPath, []byte(texts), 0o644)
}
