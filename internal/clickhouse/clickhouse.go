// Package clickhouse runs SQL on ClickHouse for tests: on the engine inside npm's
// package chdb, which `make test-clickhouse` installs below bin. Nothing of it is
// part of the program.
package clickhouse

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

//go:embed run.js
var script string

// ErrMissing tells that there is no ClickHouse to run.
var ErrMissing = errors.New("no ClickHouse: run make test-clickhouse, which installs npm's chdb below bin; Node.js is needed")

// Engine is an installed chdb.
type Engine struct {
	node string // Node.js
	chdb string // folder of the npm package
}

// Query is one statement, or several of which the last answers.
type Query struct {
	Name string `json:"name"`
	SQL  string `json:"sql"`
}

// Answer is what a query gave. Values are nil, bool, json.Number, string, or a list
// of those.
type Answer struct {
	Columns []string
	Types   []string // ClickHouse's
	Rows    [][]any
	Err     error
	Took    time.Duration
}

// Find looks for chdb below bin of the module that root is the folder of.
func Find(root string) (Engine, error) {
	node, err := exec.LookPath("node")
	if err != nil {
		return Engine{}, ErrMissing
	}
	chdb, err := filepath.Abs(filepath.Join(root, "bin", "chdb", "node_modules", "chdb"))
	if err != nil {
		return Engine{}, err
	}
	if _, err := os.Stat(chdb); err != nil {
		return Engine{}, ErrMissing
	}
	return Engine{node: node, chdb: chdb}, nil
}

// Run runs setup, then every query, in one session of a process of its own. Faults
// of a query are in its answer.
func (e Engine) Run(ctx context.Context, setup string, queries []Query) (map[string]Answer, error) {
	job, err := json.Marshal(map[string]any{"chdb": e.chdb, "setup": setup, "queries": queries})
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, e.node, "-e", script)
	cmd.Stdin = bytes.NewReader(job)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("running chdb: %w: %s", err, stderr.Bytes())
	}
	answers := map[string]Answer{}
	lines := bufio.NewScanner(&stdout)
	lines.Buffer(nil, 1<<30)
	for lines.Scan() {
		name, a, err := parse(lines.Bytes())
		if err != nil {
			return nil, fmt.Errorf("reading chdb's answer: %w", err)
		}
		if name == "" && a.Err != nil {
			return nil, fmt.Errorf("making the tables: %w", a.Err)
		}
		answers[name] = a
	}
	return answers, lines.Err()
}

func parse(line []byte) (string, Answer, error) {
	var said struct {
		Name         string
		Error        string
		Answer       string
		Milliseconds int64
	}
	if err := json.Unmarshal(line, &said); err != nil {
		return "", Answer{}, err
	}
	a := Answer{Took: time.Duration(said.Milliseconds) * time.Millisecond}
	if said.Error != "" {
		a.Err = errors.New(said.Error)
	}
	if said.Answer == "" {
		return said.Name, a, nil
	}
	var table struct {
		Meta []struct{ Name, Type string }
		Data [][]any
	}
	d := json.NewDecoder(bytes.NewReader([]byte(said.Answer)))
	d.UseNumber()
	if err := d.Decode(&table); err != nil {
		return "", Answer{}, fmt.Errorf("%s: %w", said.Name, err)
	}
	for _, c := range table.Meta {
		a.Columns = append(a.Columns, c.Name)
		a.Types = append(a.Types, c.Type)
	}
	a.Rows = table.Data
	return said.Name, a, nil
}
