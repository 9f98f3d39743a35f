// Package bug turns panics into errors that can be shown and reported: they say
// what happened and where in the program, and hold no text of logs, which the value
// of a panic may.
package bug

import (
	"fmt"
	"path"
	"runtime"
	"strings"
	"sync"
)

// Where is where bugs are reported.
const Where = "https://github.com/fclog/fclog/issues"

const module = "github.com/fclog/fclog/"

// Panic is a panic that was caught.
type Panic struct {
	What   string   // what happened, without any value of the program
	Frames []string // functions of fclog it happened in, innermost first
	All    []string // all functions
}

// Error is one line.
func (p *Panic) Error() string {
	at := ""
	if len(p.Frames) > 0 {
		at = " at " + p.Frames[0]
	}
	return "internal error: " + p.What + at + "; this is a bug, please report it at " + Where
}

// Of describes the value that recover returned, called in the deferred function that
// recovered. A Panic that was carried here from elsewhere stays what it is.
func Of(value any) *Panic {
	if p, ok := value.(*Panic); ok {
		return p
	}
	p := &Panic{What: describe(value)}
	pcs := make([]uintptr, 200)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	thrown := false // what stands above the panic is the catching of it
	for {
		f, more := frames.Next()
		switch {
		case f.Function == "runtime.gopanic":
			thrown = true
		case thrown && f.Function != "":
			line := fmt.Sprintf("%s (%s:%d)", strings.TrimPrefix(f.Function, module), path.Base(f.File), f.Line)
			p.All = append(p.All, line)
			if strings.HasPrefix(f.Function, module) || strings.HasPrefix(f.Function, "main.") {
				p.Frames = append(p.Frames, line)
			}
		}
		if !more {
			return p
		}
	}
}

// describe tells what the runtime says, which are types and numbers. Other values
// may hold anything, so only their type is told.
func describe(value any) string {
	if e, ok := value.(runtime.Error); ok {
		return strings.TrimPrefix(e.Error(), "runtime error: ")
	}
	return fmt.Sprintf("panic with a value of type %T", value)
}

// Carrier takes a panic of workers to whoever waits for them, so that it is caught
// where theirs would be. The zero value is ready.
type Carrier struct {
	mu    sync.Mutex
	first *Panic
}

// Do runs f and keeps its panic.
func (c *Carrier) Do(f func()) {
	defer func() {
		if value := recover(); value != nil {
			p := Of(value)
			c.mu.Lock()
			defer c.mu.Unlock()
			if c.first == nil {
				c.first = p
			}
		}
	}()
	f()
}

// Drop panics with the first panic that was kept, if any; the workers are done.
func (c *Carrier) Drop() {
	if c.first != nil {
		panic(c.first)
	}
}
