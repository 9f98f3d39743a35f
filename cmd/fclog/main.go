// Command fclog tells from recorded sessions of coding agents what every token
// was spent on, and how large each possible saving is.
package main

import (
	"context"
	"os"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
