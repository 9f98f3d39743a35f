// Package logfile reads the files agents write: JSON records, one or more on a
// line, plain or compressed, possibly cut, damaged or still growing.
//
// A Reader is used like a bufio.Scanner. A line that cannot be read is a
// rollout.Problem, not an error; only failing I/O ends a read early.
package logfile
