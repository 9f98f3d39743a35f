package main_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/devdata"
	"github.com/fclog/fclog/rollout/formats"
)

// stored is all that the files of a folder hold: their bytes, and in Parquet files
// every value, unpacked, not through any view.
type stored struct {
	raw    string
	values map[string]bool
	joined string
}

func storedIn(t *testing.T, dir string) stored {
	t.Helper()
	out := stored{values: map[string]bool{}}
	var raw, joined strings.Builder
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		raw.WriteString(path + "\n")
		raw.Write(content)
		if err != nil || filepath.Ext(path) != ".parquet" {
			return err
		}
		for _, v := range parquetValues(t, path) {
			if !out.values[v] {
				out.values[v] = true
				joined.WriteString(v + "\n")
			}
		}
		return nil
	})
	require.NoError(t, err)
	out.raw, out.joined = raw.String(), joined.String()
	return out
}

func parquetValues(t *testing.T, path string) []string {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	info, err := f.Stat()
	require.NoError(t, err)
	file, err := parquet.OpenFile(f, info.Size())
	require.NoError(t, err)
	var out []string
	for _, group := range file.RowGroups() {
		rows := group.Rows()
		batch := make([]parquet.Row, 100)
		for {
			n, err := rows.ReadRows(batch)
			for _, row := range batch[:n] {
				for _, v := range row {
					if v.Kind() == parquet.ByteArray || v.Kind() == parquet.FixedLenByteArray {
						out = append(out, string(v.ByteArray()))
					}
				}
			}
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
		}
		require.NoError(t, rows.Close())
	}
	return out
}

// holds tells whether a text is there: as a value, or where it is long enough not to
// be met by chance as a part of one or of the raw bytes.
func (s stored) holds(text string) bool {
	const long = 16
	return s.values[text] || len(text) >= long && (strings.Contains(s.joined, text) || strings.Contains(s.raw, text))
}

// logTexts are all texts of logs as their readers give them, each whole and line by
// line, and what calls are about.
func logTexts(t *testing.T, paths ...string) map[string]bool {
	t.Helper()
	files, _, err := formats.Expand(context.Background(), paths)
	require.NoError(t, err)
	texts := map[string]bool{}
	for _, f := range files {
		sessions, err := f.Format.Read(context.Background(), f.Path)
		if err != nil {
			continue
		}
		for _, s := range sessions {
			texts[s.CWD] = true
			for _, text := range s.Texts {
				texts[text.S] = true
				for line := range strings.Lines(text.S) {
					texts[strings.TrimSpace(line)] = true
				}
			}
			for _, c := range s.Calls {
				for _, text := range []string{c.Command, c.Path, c.Range, c.Task, c.Handle, c.Recovers} {
					texts[text] = true
				}
			}
		}
	}
	return texts
}

// plainWord is what names of tools, models, agents, files and numbers look like,
// which stay in datasets without texts. A text of a log may be such a word.
var plainWord = regexp.MustCompile(`^[\w.\-/@:]{0,40}$`)

func noTextIsLeft(t *testing.T, paths ...string) {
	t.Helper()
	h := newHome(t)
	dir := filepath.Join(t.TempDir(), "hashes")
	got := h.run(append(append([]string{"import"}, paths...), "-o", dir, "--no-text")...)
	require.Equal(t, 0, got.code, got.stderr)
	with := filepath.Join(t.TempDir(), "texts")
	require.Equal(t, 0, h.run(append(append([]string{"import"}, paths...), "-o", with)...).code)

	texts := logTexts(t, paths...)
	hashes, whole := storedIn(t, dir), storedIn(t, with)
	looked, found := 0, 0
	for text := range texts {
		if plainWord.MatchString(text) {
			continue
		}
		looked++
		if whole.holds(text) {
			found++
		}
		assert.False(t, hashes.holds(text), "a dataset without texts holds %.80q", text)
	}
	t.Logf("%d texts and lines looked for; %d of them are found in a dataset with texts", looked, found)
	// The search is worth something: it finds what is there.
	assert.Greater(t, looked, 30)
	assert.Greater(t, found, looked*4/5, "short lines are looked for as whole values only")
}

func TestNoTextHoldsNoText(t *testing.T) {
	t.Parallel()
	noTextIsLeft(t, testdata("codex"), testdata("claude-code"), testdata("freecode"), testdata("gemini-cli"), testdata("copilot-cli"), testdata("swe-agent"), testdata("atif"))
}

func TestNoTextHoldsNoTextOfRealLogs(t *testing.T) {
	t.Parallel()
	noTextIsLeft(t, devdata.Dir(t, "gemini-cli"), devdata.Dir(t, "pi"))
}

// The secrets of the log that the tests of --redact read.
const (
	githubKey = "ghp_k9X2mQ7vR4tY8wZ1bN6cD3fG5hJ0pL2sA7eU"
	bearer    = "qZ81LmN0xKv93RtYw72BcD56FgH4JpS"
	password  = "tr0ub4dor-and-3"
	dbWord    = "Kd83mQzP71x"
	keyLine   = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"
)

var secrets = []string{githubKey, bearer, password, dbWord, keyLine}

// logWithSecrets is a Codex log with secrets in the folder, the prompt, an injected
// text, a command, a path and results, with and without what tells of them.
func logWithSecrets(t *testing.T) string {
	t.Helper()
	log, err := os.ReadFile(testdata("codex", "poll-0.104.jsonl"))
	require.NoError(t, err)
	text := string(log)
	put := func(old, new string) {
		t.Helper()
		require.Contains(t, text, old)
		raw, err := json.Marshal(new)
		require.NoError(t, err)
		text = strings.ReplaceAll(text, old, strings.Trim(string(raw), `"`))
	}
	put("Everything is allowed.", "DATABASE_URL=postgres://app:"+dbWord+"@db.internal:5432/app is allowed.")
	put("run the tests", "run the tests with\nDB_PASSWORD="+password+"\nand commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b")
	put("go test ./...", `curl -H 'Authorization: Bearer `+bearer+`' https://ci.internal/x`)
	put("main.go", "/src/"+githubKey+"/main.go")
	put("/src/demo", "/src/"+githubKey+"/demo")
	put(`package main\n`, "-----BEGIN PRIVATE KEY-----\n"+keyLine+"\n-----END PRIVATE KEY-----\nthen "+bearer+" and\nhash 2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae\n")
	path := filepath.Join(t.TempDir(), "secrets.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestRedactedImport(t *testing.T) {
	t.Parallel()
	h, log := newHome(t), logWithSecrets(t)
	dir, plain := filepath.Join(t.TempDir(), "redacted"), filepath.Join(t.TempDir(), "plain")
	got := h.run("import", log, "-o", dir, "--redact")
	require.Equal(t, 0, got.code, got.stderr)
	assert.Contains(t, got.stderr, "tokens are those of the texts before")
	require.Equal(t, 0, h.run("import", log, "-o", plain).code)

	redacted, whole := storedIn(t, dir), storedIn(t, plain)
	for _, s := range secrets {
		assert.Contains(t, whole.joined, s, "the test looks in the right place")
		assert.NotContains(t, redacted.joined, s)
		assert.NotContains(t, redacted.raw, s)
	}
	for _, kept := range []string{"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b", "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae", "-----BEGIN PRIVATE KEY-----", "https://ci.internal/x", "@db.internal:5432/app"} {
		assert.Contains(t, redacted.joined, kept)
	}
	assert.Contains(t, redacted.joined, "Authorization: Bearer [redacted:authorization:1]")
	assert.Contains(t, redacted.joined, "then [redacted:authorization:1] and", "where nothing tells that it is one")
	assert.Contains(t, redacted.joined, "/src/[redacted:github-token:1]/demo")

	// Whatever is counted is counted as before.
	for _, query := range []string{
		"SELECT item, kind, tokens FROM items ORDER BY ALL", "SELECT item, first_request, last_request, tokens FROM spans ORDER BY ALL",
		"SELECT request, input_tokens, counted_tokens, unlogged_tokens FROM requests ORDER BY ALL", "SELECT call_id, repeat_of, strict_repeat_of FROM calls ORDER BY ALL",
		"SELECT count(*), count(DISTINCT args_key), count(DISTINCT args_hash) FROM calls",
	} {
		a, b := h.run("query", dir, query, "--format", "csv"), h.run("query", plain, query, "--format", "csv")
		require.Equal(t, 0, a.code, a.stderr)
		assert.Equal(t, b.stdout, a.stdout, query)
	}
	// A hash of the original would let a short password be found by trying.
	same := h.run("query", dir, "SELECT count(*) AS n FROM texts WHERE contains(text, '[redacted:') AND sha256(text) <> text_hash", "--format", "csv")
	assert.Equal(t, "n\n0\n", same.stdout)
	got = h.run("verify", dir)
	assert.Equal(t, 0, got.code, got.stdout+got.stderr)

	got = h.run("import", log, "-o", dir)
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stderr, "was made with secrets redacted: import into it with --redact")
	got = h.run("import", log, "-o", plain, "--redact")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stderr, "holds texts as they are")
	got = h.run("import", log, "-o", dir, "--redact")
	assert.Contains(t, got.stdout, "1 unchanged")
	got = h.run("audit", plain, "--redact")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stderr, "was imported without --redact: import the logs")
	assert.Equal(t, 0, h.run("audit", dir, "--redact").code)
}

// TestReportsNameNoKeys: reports name the commands and paths of the heaviest calls
// without being asked, and without the keys in them; what is no key stays. Texts that
// are asked for are shown as they are.
func TestReportsNameNoKeys(t *testing.T) {
	t.Parallel()
	log := logWithSecrets(t)
	const (
		header = "Authorization: Bearer [redacted:authorization:1]"
		folder = "/src/[redacted:github-token:1]/main.go"
	)
	for _, c := range []struct {
		args string
		want []string
	}{
		{"audit LOG --width 160", nil},
		{"audit LOG --format md", []string{header, folder}},
		{"audit LOG --format json", []string{header, folder}},
		{"audit LOG --format html", []string{header, folder}},
		{"replay LOG --variant cap:max=20 --details --width 160", nil},
		{"replay LOG --variant cap:max=20 --details --format md", nil},
		{"replay LOG --variant cap:max=20 --format json", []string{"[redacted:"}},
		{"replay LOG --variant cap:max=20 --format html", nil},
	} {
		t.Run(c.args, func(t *testing.T) {
			t.Parallel()
			got := newHome(t).run(strings.Fields(strings.ReplaceAll(c.args, "LOG", log))...)
			require.Equal(t, 0, got.code, got.stderr)
			for _, s := range secrets {
				for _, part := range []string{s, s[:9], s[len(s)-9:]} {
					assert.NotContains(t, got.stdout, part)
				}
			}
			plain := strings.NewReplacer("&#39;", "'", `\\`, "").Replace(got.stdout)
			for _, want := range c.want {
				assert.Contains(t, plain, want)
			}
		})
	}
	asked := newHome(t).run("query", log, "SELECT text FROM texts", "--format", "csv")
	for _, s := range secrets {
		assert.Contains(t, asked.stdout, s)
	}
}

// TestRedactedReports: every command that can show text, with every way to make it
// do so.
func TestRedactedReports(t *testing.T) {
	t.Parallel()
	log := logWithSecrets(t)
	for _, args := range []string{
		"audit LOG", "audit LOG --format json", "audit LOG --format md", "audit LOG --format html --with-text",
		"replay LOG --variant cap:max=200 --diff", "replay LOG --variant cap:max=200 --diff --format md", "replay LOG --variant cap:max=200 --format html --with-text",
		"replay LOG --variant cap:max=200 --details --format json", "replay LOG --variant cap:max=200 --emit EMIT",
		"payload LOG --format json", "payload LOG --request 2", "query LOG --format json TEXTS", "query LOG --format csv CALLS", "query LOG --name heaviest-texts",
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			h, folder := newHome(t), filepath.Join(t.TempDir(), "emitted")
			var line []string
			for _, a := range strings.Fields(args) {
				a = strings.NewReplacer("LOG", log, "EMIT", folder).Replace(a)
				switch a {
				case "TEXTS":
					a = "SELECT text FROM texts"
				case "CALLS":
					a = "SELECT c.*, s.* FROM calls c JOIN sessions s USING (session_id)"
				}
				line = append(line, a)
			}
			got := h.run(append(line, "--redact")...)
			require.Equal(t, 0, got.code, got.stderr)
			all := got.stdout + got.stderr
			if _, err := os.Stat(folder); err == nil {
				all += storedIn(t, folder).raw
			}
			for _, s := range secrets {
				for _, part := range []string{s, s[:9], s[len(s)-9:]} { // cut ones, too
					assert.NotContains(t, all, part)
				}
			}
		})
	}
	got := newHome(t).run("payload", log, "--against", log, "--redact")
	assert.Equal(t, 2, got.code)
}

// TestRedactedMessages: with --redact neither messages nor results name the keys in
// the names of folders and files, be they logs or not.
func TestRedactedMessages(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	raw, err := os.ReadFile(filepath.Join("..", "..", "testdata", "codex", "poll-0.104.jsonl"))
	require.NoError(t, err)
	const key, password = "ghp_a8Kq2LmZ7xV4bN9cR1tY6wP3sD5fG0hJ2kQe", "hJ7kL9mQ2xZ4"
	logs := filepath.Join(h.dir, "logs", "x "+key, "DB_PASSWORD="+password)
	mustWrite(t, filepath.Join(logs, "poll.jsonl"), string(raw))
	mustWrite(t, filepath.Join(logs, "foreign "+key+".jsonl"), "{\"a\":1}\n")
	mustWrite(t, filepath.Join(logs, "broken "+key+".jsonl.gz"), "\x1f\x8bgarbage")
	folder := filepath.Join(h.dir, "logs")
	for _, args := range [][]string{
		{"import", folder, "-o", filepath.Join(h.dir, "ds"), "--redact", "--debug"},
		{"query", folder, "SELECT file FROM sessions", "--format", "csv", "--redact", "--debug"},
		{"audit", folder, "--redact", "--debug", "--format", "json"},
		{"import", filepath.Join(logs, "foreign "+key+".jsonl"), "-o", filepath.Join(h.dir, "ds2"), "--redact", "--debug"},
	} {
		got := h.run(args...)
		for _, secret := range []string{key, password} {
			assert.NotContains(t, got.stdout, secret, args)
			assert.NotContains(t, got.stderr, secret, args)
		}
		assert.Contains(t, got.stdout+got.stderr, "[redacted:", args)
	}
	plain := h.run("import", folder, "-o", filepath.Join(h.dir, "ds3"), "--debug")
	assert.Contains(t, plain.stderr, key, "without it names are as they are")
}
