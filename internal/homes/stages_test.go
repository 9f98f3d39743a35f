package homes_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/analyze"
	"github.com/fclog/fclog/analyze/dataset"
	"github.com/fclog/fclog/internal/homes"
	"github.com/fclog/fclog/internal/tokens"
	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/replay/variants"
	"github.com/fclog/fclog/rollout"
	"github.com/fclog/fclog/rollout/formats"
	"github.com/fclog/fclog/rollout/logfile"
	"github.com/fclog/fclog/rollout/measure"
)

var agents = []string{"claude-code", "codex", "freecode"}

// home is an invented home of 10 MB, and the bytes of its logs.
func home(b *testing.B, agent string) (files []formats.File, bytes int64) {
	dir := b.TempDir()
	_, err := homes.Write(dir, homes.Options{Agent: agent, Bytes: 10_000_000, Seed: 1})
	require.NoError(b, err)
	files, _, err = formats.Expand(b.Context(), []string{dir})
	require.NoError(b, err)
	for _, f := range files {
		info, err := os.Stat(f.Path)
		require.NoError(b, err)
		bytes += info.Size()
	}
	return files, bytes
}

func eachAgent(b *testing.B, run func(b *testing.B, files []formats.File)) {
	for _, agent := range agents {
		b.Run(agent, func(b *testing.B) {
			files, bytes := home(b, agent)
			b.SetBytes(bytes)
			b.ResetTimer()
			run(b, files)
		})
	}
}

// BenchmarkRecords cuts files into JSON records and decodes nothing.
func BenchmarkRecords(b *testing.B) {
	eachAgent(b, func(b *testing.B, files []formats.File) {
		for b.Loop() {
			for _, f := range files {
				r, err := logfile.Open(f.Path)
				require.NoError(b, err)
				for r.Next() {
				}
				require.NoError(b, r.Err())
				require.NoError(b, r.Close())
			}
		}
	})
}

func read(b *testing.B, files []formats.File) (out []*rollout.Session) {
	for _, f := range files {
		sessions, err := f.Format.Read(b.Context(), f.Path)
		require.NoError(b, err)
		out = append(out, sessions...)
	}
	return out
}

// BenchmarkDecode makes sessions of files: records and all that is in them.
func BenchmarkDecode(b *testing.B) {
	eachAgent(b, func(b *testing.B, files []formats.File) {
		for b.Loop() {
			read(b, files)
		}
	})
}

// BenchmarkMeasure counts all tokens of sessions, with a counter that knows none
// of their texts.
func BenchmarkMeasure(b *testing.B) {
	eachAgent(b, func(b *testing.B, files []formats.File) {
		sessions := read(b, files)
		for b.Loop() {
			counter := tokens.New()
			for _, s := range sessions {
				measure.Measure(s, counter)
			}
		}
	})
}

func inputs(files []formats.File, kept map[string][]*rollout.Session) []dataset.Input {
	var out []dataset.Input
	for _, f := range files {
		read := func(ctx context.Context) ([]*rollout.Session, error) { return f.Format.Read(ctx, f.Path) }
		if kept != nil {
			read = func(context.Context) ([]*rollout.Session, error) { return kept[f.Path], nil }
		}
		out = append(out, dataset.Input{Path: f.Path, Read: read})
	}
	return out
}

func importInto(b *testing.B, dir string, in []dataset.Input) {
	_, err := dataset.Import(b.Context(), dir, in, dataset.Options{})
	require.NoError(b, err)
}

// BenchmarkMeasureAndWrite is an import of sessions that are in memory: with
// BenchmarkMeasure taken off, what Parquet costs.
func BenchmarkMeasureAndWrite(b *testing.B) {
	eachAgent(b, func(b *testing.B, files []formats.File) {
		kept := map[string][]*rollout.Session{}
		for _, f := range files {
			kept[f.Path] = read(b, []formats.File{f})
		}
		for b.Loop() {
			importInto(b, filepath.Join(b.TempDir(), "dataset"), inputs(files, kept))
		}
	})
}

// BenchmarkImport is all of it.
func BenchmarkImport(b *testing.B) {
	eachAgent(b, func(b *testing.B, files []formats.File) {
		for b.Loop() {
			importInto(b, filepath.Join(b.TempDir(), "dataset"), inputs(files, nil))
		}
	})
}

func open(b *testing.B) *analyze.DB {
	files, _ := home(b, "claude-code")
	dir := filepath.Join(b.TempDir(), "dataset")
	importInto(b, dir, inputs(files, nil))
	require.NoError(b, dataset.Compact(b.Context(), dir))
	db, err := analyze.Open(b.Context(), analyze.Options{Dataset: dir})
	require.NoError(b, err)
	b.Cleanup(func() { db.Close() })
	return db
}

func BenchmarkAudit(b *testing.B) {
	db := open(b)
	for b.Loop() {
		_, err := analyze.RunAudit(b.Context(), db)
		require.NoError(b, err)
	}
}

// BenchmarkAuditOfOneSession is what 'fclog audit' does with a session of 1 MB, but
// for starting the process: the vocabulary, import, database, tables, questions.
func BenchmarkAuditOfOneSession(b *testing.B) {
	for _, agent := range agents {
		b.Run(agent, func(b *testing.B) {
			home := b.TempDir()
			_, err := homes.Write(home, homes.Options{Agent: agent, Bytes: 1_000_000, Seed: 1, One: true})
			require.NoError(b, err)
			files, _, err := formats.Expand(b.Context(), []string{home})
			require.NoError(b, err)
			for b.Loop() {
				dir := filepath.Join(b.TempDir(), "dataset")
				_, err := dataset.Import(b.Context(), dir, inputs(files, nil), dataset.Options{Scratch: true})
				require.NoError(b, err)
				db, err := analyze.Open(b.Context(), analyze.Options{Dataset: dir})
				require.NoError(b, err)
				_, err = analyze.RunAudit(b.Context(), db)
				require.NoError(b, err)
				require.NoError(b, db.Close())
			}
		})
	}
}

func BenchmarkQuestion(b *testing.B) {
	db := open(b)
	questions, err := analyze.Questions()
	require.NoError(b, err)
	for _, q := range questions {
		b.Run(q.Name, func(b *testing.B) {
			for b.Loop() {
				rows, err := analyze.Ask(b.Context(), db, q.Name, analyze.Params{})
				require.NoError(b, err)
				drain(b, rows)
			}
		})
	}
}

func drain(b *testing.B, rows *sql.Rows) {
	for rows.Next() {
	}
	require.NoError(b, rows.Err())
	require.NoError(b, rows.Close())
}

// BenchmarkReplay runs every variant with its own values over a home.
func BenchmarkReplay(b *testing.B) {
	files, _ := home(b, "claude-code")
	counter := tokens.New()
	var recs []replay.Recording
	for _, s := range read(b, files) {
		recs = append(recs, replay.Recording{Session: s, Sizes: measure.Measure(s, counter)})
	}
	cache, err := replay.DefaultCache()
	require.NoError(b, err)
	free := func(string, string) (replay.Rates, bool) { return replay.Rates{}, false }
	engine := &replay.Engine{Count: counter.Count, Price: free, Cache: cache}
	for _, v := range variants.All() {
		b.Run(v.Name, func(b *testing.B) {
			values := replay.Values{}
			for _, o := range v.Options {
				values[o.Name] = o.Default
			}
			use := replay.Use{Name: v.Name, Steps: []replay.Step{{Variant: v, Values: values}}}
			for b.Loop() {
				if _, err := engine.Run(b.Context(), recs, []replay.Use{use}, replay.RunOptions{}); err != nil {
					b.Skip(err)
				}
			}
		})
	}
}
