package formats

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/hostile"
	"github.com/fclog/fclog/rollout"
)

// Known mistakes that no format is safe from: over the logs of all of them.

// withPicture puts a picture beside a text of a log that has none, by format.
var withPicture = map[string][2]string{
	"codex":     {`{"type":"input_text","text":"run the tests"}`, `{"type":"input_text","text":"run the tests"},{"type":"input_image","image_url":"data:image/png;base64,PICTURE"}`},
	"freecode":  {`{"type":"text","content":"Please fix it."}`, `{"type":"text","content":"Please fix it."},{"type":"image","data":"PICTURE","mediaType":"image/png"}`},
	"pi":        {`{"type":"text","text":"Find out why the totals are wrong."}`, `{"type":"text","text":"Find out why the totals are wrong."},{"type":"image","data":"PICTURE","mimeType":"image/png"}`},
	"swe-agent": {`"content": "Fix issue 17."`, `"content": [{"type": "text", "text": "Fix issue 17."}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,PICTURE"}}]`},
}

// picture is the head of a PNG of one pixel.
const picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"

// TestPicturesAreNotTheirBytesAnywhere: in the logs of every format that holds
// pictures, one of 1.2 MB weighs what its pixels do, and is no text.
func TestPicturesAreNotTheirBytesAnywhere(t *testing.T) {
	const most = 10_000 // no provider takes more for one
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "testdata"))))
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			enlarge(t, dir, path)
		}
		return err
	}))
	files, _, err := Expand(t.Context(), []string{dir})
	require.NoError(t, err)
	found := map[string]int{}
	for _, f := range files {
		sessions, err := f.Format.Read(t.Context(), f.Path)
		if err != nil {
			continue // of testdata/bad
		}
		for _, s := range sessions {
			found[f.Format.Name] += pictures(t, f.Path, s, most)
		}
	}
	t.Logf("pictures: %v", found)
	// The logs of Copilot and ATIF hold no bytes of pictures.
	for _, name := range []string{"api-log", "claude-code", "codex", "freecode", "gemini-cli", "opencode", "pi", "swe-agent"} {
		assert.Positive(t, found[name], name)
	}
}

var pictureData = regexp.MustCompile(`iVBORw0KGgo[A-Za-z0-9+/=]*`)

// enlarge puts a picture of 1.2 MB in the place of every one of a log of text.
func enlarge(t *testing.T, root, path string) {
	t.Helper()
	log, err := os.ReadFile(path)
	require.NoError(t, err)
	if bytes.IndexByte(log, 0) >= 0 {
		return
	}
	format, _, _ := strings.Cut(strings.TrimPrefix(path, root+string(filepath.Separator)), string(filepath.Separator))
	if put, ok := withPicture[format]; ok {
		log = bytes.ReplaceAll(log, []byte(put[0]), []byte(strings.ReplaceAll(put[1], "PICTURE", picture)))
	}
	log = pictureData.ReplaceAll(log, []byte(picture+strings.Repeat("AAAA", 300_000)))
	require.NoError(t, os.WriteFile(path, log, 0o600))
}

// pictures counts the pictures of a session, each of which weighs no more than most.
func pictures(t *testing.T, name string, s *rollout.Session, most int64) (n int) {
	t.Helper()
	for _, it := range s.Items {
		if it.Kind != rollout.Image {
			continue
		}
		n++
		assert.True(t, s.Texts[it.Text].Opaque, name)
		if it.Tokens != nil {
			assert.LessOrEqual(t, *it.Tokens, most, name)
		}
	}
	for _, text := range s.Texts {
		assert.Less(t, len(text.S), 1_000_000, "%s: a picture is a text", name)
	}
	return n
}

// TestBlanksInJSONChangeNothing: a record is the same however it is spaced.
func TestBlanksInJSONChangeNothing(t *testing.T) {
	for _, f := range samples(t) {
		log, at := aside(t, f)
		var spaced bytes.Buffer
		for line := range bytes.Lines(log) {
			value := jsontext.Value(bytes.Clone(bytes.TrimSpace(line)))
			if value.Kind() == '{' && value.IsValid() {
				require.NoError(t, value.Format(jsontext.SpaceAfterColon(true), jsontext.SpaceAfterComma(true), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true), jsontext.PreserveRawStrings(true)))
				line = append(bytes.ReplaceAll(value, []byte("\n"), nil), '\n')
			}
			spaced.Write(line)
		}
		want, err := at.Format.Read(t.Context(), at.Path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(at.Path, spaced.Bytes(), 0o600))
		detected, err := Detect(at.Path)
		require.NoError(t, err, f.Path)
		assert.Equal(t, f.Format.Name, detected.Name)
		got, err := at.Format.Read(t.Context(), at.Path)
		require.NoError(t, err)
		assert.Equal(t, sumOf(want), sumOf(got), f.Path)
		for i := range want {
			assert.Equal(t, len(want[i].Items), len(got[i].Items), f.Path)
			assert.Equal(t, want[i].Texts, got[i].Texts, f.Path)
		}
	}
}

// TestLoneSurrogatesKeepTheirRecord: half of a pair in every text of every format
// becomes one character, and no request or figure goes with it.
func TestLoneSurrogatesKeepTheirRecord(t *testing.T) {
	prose := regexp.MustCompile(`^"[A-Z][a-z]+ [a-z ]+[.?!]?"$`)
	hit := map[string]bool{}
	for _, f := range samples(t) {
		log, at := aside(t, f)
		want, err := at.Format.Read(t.Context(), at.Path)
		require.NoError(t, err)
		changed := 0
		bent := hostile.Rewrite(log, func(key string, v jsontext.Value) jsontext.Value {
			if v.Kind() != '"' || !prose.Match(v) || (key != "text" && key != "content") {
				return v
			}
			changed++
			return append(append(v[:len(v)-1:len(v)-1], `\ud83d`...), '"')
		})
		if changed == 0 {
			continue
		}
		require.NoError(t, os.WriteFile(at.Path, bent, 0o600))
		got, err := at.Format.Read(t.Context(), at.Path)
		require.NoError(t, err, f.Path)
		assert.Equal(t, sumOf(want), sumOf(got), f.Path)
		for _, s := range got {
			for _, text := range s.Texts {
				hit[f.Format.Name] = hit[f.Format.Name] || strings.Contains(text.S, "\uFFFD")
			}
		}
	}
	t.Logf("replaced in: %v", hit)
	assert.GreaterOrEqual(t, len(hit), 6)
}

// TestReasoningByProvider: it is inside the output for some and beside it for others;
// the output of fclog holds it once.
func TestReasoningByProvider(t *testing.T) {
	for name, c := range map[string]struct {
		lines             []string
		output, reasoning int64
	}{
		"codex: inside": {[]string{
			`{"timestamp":"2026-03-01T10:00:00.000Z","type":"session_meta","payload":{"id":"5973b6c0-94b8-487b-a530-2aeb6098ae0e","cwd":"/"}}`,
			`{"timestamp":"2026-03-01T10:00:01.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hm"}]}}`,
			`{"timestamp":"2026-03-01T10:00:02.000Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":100,"output_tokens":50,"reasoning_output_tokens":40,"total_tokens":150},"last_token_usage":{"input_tokens":100,"output_tokens":50,"reasoning_output_tokens":40,"total_tokens":150}}}}`,
		}, 50, 40},
		"gemini: beside": {[]string{
			`{"sessionId":"g","projectHash":"x","startTime":"2026-03-01T10:00:00.000Z","lastUpdated":"2026-03-01T10:00:00.000Z","kind":"main"}`,
			`{"id":"u","timestamp":"2026-03-01T10:00:00.000Z","type":"user","content":"Go"}`,
			`{"id":"a","timestamp":"2026-03-01T10:00:01.000Z","type":"gemini","content":"Hm","model":"gemini-3-pro","tokens":{"input":100,"output":10,"cached":0,"thoughts":40,"tool":0,"total":150}}`,
		}, 10 + 40, 40},
		"claude: inside": {[]string{claudeStart, claudeRow(1, "m1", "r1", claudeUsage(2, 100, 900, 50)+`,"output_tokens_details":{"thinking_tokens":40}`, `"end_turn"`)}, 50, 40},
	} {
		t.Run(name, func(t *testing.T) {
			r := readLines(t, c.lines...)[0].Requests[0]
			assert.Equal(t, []int64{c.output, c.reasoning}, []int64{value(r.Usage.Output), value(r.Usage.Reasoning)})
		})
	}
}

// TestDetectReadsTheHeadOnly: of a log of two gigabytes its beginning says what it is.
func TestDetectReadsTheHeadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	var b strings.Builder
	fmt.Fprintln(&b, claudeStart)
	for n := 1; n < 60; n++ {
		fmt.Fprintln(&b, claudeRow(n, fmt.Sprint("m", n), fmt.Sprint("r", n), claudeUsage(2, 0, 0, 5), `"end_turn"`))
	}
	require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o600))
	require.NoError(t, os.Truncate(path, 2<<30)) // zeros that take no room
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	format, err := Detect(path)
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	assert.Equal(t, "claude-code", format.Name)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20))
}

// TestSpawnedChildrenCountTheirOwn: a child whose log begins with its parent's history
// counts what it asked itself, whether the copies have the parent's times or the
// child's, and whether the parent is named by the fork or by what spawned it.
func TestSpawnedChildrenCountTheirOwn(t *testing.T) {
	const parent, child = "019ca000-0000-7000-8000-000000000001", "019ca100-0000-7000-8000-000000000001" // 0x100,000,000 ms apart, some 50 days
	line := func(at, kind, payload string) string {
		return fmt.Sprintf(`{"timestamp":%q,"type":%q,"payload":%s}`, at, kind, payload)
	}
	turn := func(at, id string, input, output, allInput, allOutput int) []string {
		return []string{
			line(at+"1Z", "event_msg", `{"type":"task_started","turn_id":"`+id+`"}`),
			line(at+"1Z", "turn_context", `{"turn_id":"`+id+`","model":"gpt-5.3-codex"}`),
			line(at+"2Z", "response_item", `{"type":"message","role":"user","content":[{"type":"input_text","text":"Do it"}]}`),
			line(at+"3Z", "response_item", `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done"}]}`),
			line(at+"4Z", "event_msg", fmt.Sprintf(`{"type":"token_count","info":{"total_token_usage":{"input_tokens":%d,"output_tokens":%d,"total_tokens":%d},"last_token_usage":{"input_tokens":%d,"output_tokens":%d,"total_tokens":%d}}}`,
				allInput, allOutput, allInput+allOutput, input, output, input+output)),
			line(at+"5Z", "event_msg", `{"type":"task_complete","turn_id":"`+id+`"}`),
		}
	}
	spawned := `,"source":{"subagent":{"thread_spawn":{"parent_thread_id":"` + parent + `","depth":1}}}`
	forked := `,"forked_from_id":"` + parent + `"`
	const old, own = "2026-03-12T20:00:0", "2026-05-01T10:00:0"
	for name, c := range map[string]struct{ meta, history string }{
		"spawned, old times":           {spawned + forked, old},
		"spawned, times of the child":  {spawned + forked, own},
		"only spawned, old times":      {spawned, old},
		"only spawned, times of child": {spawned, own},
		"only forked, old times":       {forked, old},
		"only forked, times of child":  {forked, own},
	} {
		t.Run(name, func(t *testing.T) {
			lines := []string{line(own+"0Z", "session_meta", `{"id":"`+child+`","cwd":"/","cli_version":"0.118.0"`+c.meta+`}`), line(own+"0Z", "session_meta", `{"id":"`+parent+`","cwd":"/","cli_version":"0.118.0"}`)}
			for i := range 90 { // the parent's 90 turns
				lines = append(lines, turn(c.history, fmt.Sprintf("019ca000-%04x-7000-8000-000000000002", 0x1000+i), 1000, 10, 1000*(i+1), 10*(i+1))...)
			}
			lines = append(lines, turn("2026-05-01T10:01:0", "019ca100-1000-7000-8000-000000000002", 500, 7, 90_500, 907)...)
			s := readLines(t, lines...)
			assert.Equal(t, sums{requests: 1, input: 500, output: 7}, sumOf(s))
			assert.Equal(t, parent, s[0].ParentID+strings.TrimPrefix(s[0].ForkedFrom, s[0].ParentID))
		})
	}
}
