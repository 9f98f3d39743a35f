package analyze

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

// looks is how often a dataset that changes while it is looked at is looked at.
const looks = 3

// errUnsteady says that a dataset changed at every look.
var errUnsteady = errors.New("an import or a merge is writing the dataset, and it changed whenever it was looked at: ask again when that has ended")

// steadily looks at the dataset in dir until it did not change meanwhile. Its files
// come and go one by one: of a session that was imported, replaced or merged meanwhile
// some rows may have been seen and others not. When it has changed at every look, the
// error of the last one counts, and errUnsteady if there is none.
func steadily(ctx context.Context, dir string, look func() error) error {
	for try := 1; ; try++ {
		before := committed(dir)
		err := look()
		switch {
		case committed(dir) == before || ctx.Err() != nil:
			return err
		case try < looks:
			continue
		case err != nil:
			return err
		}
		return errUnsteady
	}
}

// committed names the sessions files of a dataset with their sizes and times. They are
// the last that come and the first that go, so that a dataset of which they stay the
// same stays the same.
func committed(dir string) string {
	var out strings.Builder
	// What cannot be read is told by DuckDB.
	_ = filepath.WalkDir(filepath.Join(dir, "sessions"), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil
		}
		if info, err := e.Info(); err == nil {
			fmt.Fprintln(&out, path, info.Size(), info.ModTime().UnixNano())
		}
		return nil
	})
	return out.String()
}

//go:embed sql/steady/changed-while-read.sql
var changedWhileRead string

// noteUnsteady adds a problem for what may be missing.
func (d *DB) noteUnsteady(ctx context.Context, dir string) error {
	_, err := d.conn.ExecContext(ctx, changedWhileRead, dir, errUnsteady.Error())
	return err
}
