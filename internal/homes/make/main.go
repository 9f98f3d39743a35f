// Make writes an invented log folder of a coding agent, for measuring:
//
//	go run ./internal/homes/make -agent codex -bytes 275M DIR
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/dustin/go-humanize"

	"github.com/fclog/fclog/internal/homes"
)

func main() {
	agent := flag.String("agent", "claude-code", "claude-code, codex or freecode")
	bytes := flag.String("bytes", "280M", "size of all session files together")
	seed := flag.Uint64("seed", 1, "another seed gives another home")
	one := flag.Bool("one", false, "one session of that size")
	flag.Parse()
	if err := write(flag.Arg(0), *agent, *bytes, *seed, *one); err != nil {
		fmt.Fprintln(os.Stderr, "make:", err)
		os.Exit(1)
	}
}

func write(dir, agent, size string, seed uint64, one bool) error {
	if dir == "" {
		return fmt.Errorf("name a folder to write to")
	}
	n, err := humanize.ParseBytes(size)
	if err != nil {
		return err
	}
	paths, err := homes.Write(dir, homes.Options{Agent: agent, Bytes: int64(n), Seed: seed, One: one})
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d sessions\n", dir, len(paths))
	return nil
}
