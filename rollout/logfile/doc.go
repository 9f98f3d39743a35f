// Package logfile reads the files agents write: JSON objects, one or more on a
// line, plain or compressed, possibly cut, damaged or still growing; also whole
// documents, indented or not, and lists of objects.
//
// A Reader is used like a bufio.Scanner. A line that cannot be read is a
// rollout.Problem, not an error, and so is compressed content that ends early:
// what stands before is kept. Only a failing disk ends a read with an error.
// Head and Sniff look at the start of a file alone.
package logfile
