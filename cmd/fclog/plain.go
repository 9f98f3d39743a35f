package main

import (
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"regexp/syntax"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/pflag"

	"github.com/fclog/fclog/analyze"
)

// plain is an error in the words of its user: what libraries say for programmers,
// names of types and functions above all, is put otherwise. --debug shows it as
// it was.
func plain(err error) error {
	text := err.Error()
	var walk func(error)
	walk = func(e error) {
		if words, ok := reworded(e); ok {
			text = strings.Replace(text, e.Error(), words, 1)
			return
		}
		switch e := e.(type) {
		case *analyze.StatementError:
		case interface{ Unwrap() error }:
			walk(e.Unwrap())
		case interface{ Unwrap() []error }:
			for _, below := range e.Unwrap() {
				walk(below)
			}
		}
	}
	walk(err)
	return errors.New(text)
}

// reworded puts one error otherwise, without those it wraps.
func reworded(err error) (string, bool) {
	switch e := err.(type) {
	case nil:
		return "", false
	case *fs.PathError:
		return fmt.Sprintf("cannot %s %s: %v", actions(e.Op), e.Path, e.Err), true
	case *pflag.InvalidValueError:
		return fmt.Sprintf("--%s %q %s", e.GetFlag().Name, e.GetValue(), notOf(e.GetFlag().Value.Type(), e.Unwrap())), true
	case *strconv.NumError:
		return fmt.Sprintf("%q is no number here", e.Num), true
	case *syntax.Error:
		return fmt.Sprintf("not a regular expression: %s: %q", e.Code, e.Expr), true
	case *exec.Error:
		return fmt.Sprintf("program %q cannot be run: it was not found, or may not be executed", e.Name), true
	}
	return rewordedJSON(err)
}

func rewordedJSON(err error) (string, bool) {
	switch e := err.(type) {
	case *json.SemanticError:
		if e.Err != nil && errors.As(e.Err, new(*jsontext.SyntacticError)) {
			return "", false
		}
		return wrongKind(string(e.JSONPointer)), true
	case *jsontext.SyntacticError:
		return fmt.Sprintf("not valid JSON at byte %d", e.ByteOffset), true
	case *stdjson.UnmarshalTypeError:
		return wrongKind("/" + strings.ReplaceAll(e.Field, ".", "/")), true
	case *stdjson.SyntaxError:
		return fmt.Sprintf("not valid JSON at byte %d", e.Offset), true
	}
	if text, damaged, ok := briefly(err); ok {
		switch {
		case damaged && strings.Contains(filepath.ToSlash(text), "/estimates/"):
			text += "; remove that file, and 'fclog replay' works its estimates out again"
		case damaged:
			text += "; if a file of the dataset is damaged, 'fclog verify DATASET' names it"
		}
		return text, true
	}
	return "", false
}

// briefly is analyze.Brief for the error of the database alone, not one around it.
func briefly(err error) (text string, damaged, ok bool) {
	if errors.Unwrap(err) != nil {
		return "", false, false
	}
	if _, joined := err.(interface{ Unwrap() []error }); joined {
		return "", false, false
	}
	return analyze.Brief(err)
}

func wrongKind(pointer string) string {
	if strings.Trim(pointer, "/") == "" {
		return "a JSON value of another kind is expected"
	}
	return "a JSON value of another kind is expected at " + pointer
}

// actions are the names of system calls in words.
func actions(op string) string {
	switch op {
	case "stat", "lstat", "read", "readlink", "readdirent", "fdopendir", "open", "openat":
		return "read"
	case "mkdir", "mkdirat":
		return "make the folder"
	}
	return op
}

// notOf says what a flag's value is not.
func notOf(kind string, cause error) string {
	switch {
	case errors.Is(cause, strconv.ErrRange):
		return "is too large"
	case strings.Contains(kind, "int"), strings.Contains(kind, "Int"):
		return "is not a whole number"
	case strings.Contains(kind, "float"):
		return "is not a number"
	case kind == "bool":
		return "is neither true nor false"
	case kind == "duration":
		return "is not a duration, such as 90s or 2h"
	}
	return fmt.Sprintf("is not valid: %v", cause)
}
