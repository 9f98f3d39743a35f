package analyze

import (
	"database/sql"

	"github.com/duckdb/duckdb-go/v2"
)

// Engine is a database without tables, started while its logs are still read:
// starting takes as long as reading a small one.
type Engine struct{ started chan engine }

type engine struct {
	db  *sql.DB
	err error
}

// StartEngine returns at once. The caller gives the engine to Open, or closes it.
func StartEngine() *Engine {
	e := &Engine{started: make(chan engine, 1)}
	go func() { e.started <- startEngine() }()
	return e
}

func startEngine() engine {
	connector, err := duckdb.NewConnector("", nil)
	if err != nil {
		return engine{err: err}
	}
	return engine{db: sql.OpenDB(connector)}
}

// take waits for the database, which is the caller's from then on. It can be taken
// once; a nil Engine starts one.
func (e *Engine) take() (*sql.DB, error) {
	if e == nil {
		e = StartEngine()
	}
	started, ok := <-e.started
	if !ok {
		return nil, sql.ErrConnDone
	}
	close(e.started)
	return started.db, started.err
}

// Close ends an engine that was not given to Open; after Open it does nothing.
func (e *Engine) Close() error {
	db, err := e.take()
	if err != nil {
		return nil // what there is to say of it was said by Open, or nobody asked
	}
	return db.Close()
}
