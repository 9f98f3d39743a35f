package opencode

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fclog/fclog/rollout/logfile"
)

// The storage tree of older versions keeps every object in a file of its own,
// named after its ID: session/PROJECT/SES.json, message/SES/MSG.json and
// part/MSG/PRT.json.

// readTree reads the session of a storage tree whose session file is path.
func readTree(path string, raw []byte, line int) (*document, bool) {
	info, ok := decode[sessionInfo](raw)
	if !ok || !isTreeSession(raw) {
		return nil, false
	}
	if id := idOf(path); isSessionID(id) {
		info.ID = text{V: id, OK: true}
	}
	d := &document{info: info, line: line, records: 1}
	root := storage(path)
	messages := jsonFiles(filepath.Join(root, "message", info.ID.V))
	if len(messages) == 0 {
		d.fault("missing-messages", "the messages of the session are not in the storage tree around its file: they were left behind, or none was ever sent", 0)
	}
	for _, file := range messages {
		d.fromTree(root, file)
	}
	d.inOrder()
	return d, true
}

func (d *document) fromTree(root, file string) {
	raw, ok := d.object(file)
	if !ok {
		return
	}
	m := d.message(raw, idOf(file), 0)
	if m == nil {
		return
	}
	for _, file := range jsonFiles(filepath.Join(root, "part", idOf(file))) {
		if raw, ok := d.object(file); ok {
			d.part(m, raw, idOf(file), 0)
		}
	}
}

// object is the one JSON object of a file.
func (d *document) object(file string) ([]byte, bool) {
	r, err := logfile.Open(file)
	if err != nil {
		d.fault("unreadable-file", "a file of the storage tree could not be read", 0)
		return nil, false
	}
	defer r.Close()
	if !r.Next() {
		d.fault("bad-json", "a file of the storage tree holds no JSON object", 0)
		return nil, false
	}
	return slices.Clone(r.Record()), true
}

// inOrder sorts messages by time and ID, as OpenCode does.
func (d *document) inOrder() {
	slices.SortStableFunc(d.messages, func(x, y message) int {
		return cmp.Or(cmp.Compare(x.Time.V.Created.V, y.Time.V.Created.V), cmp.Compare(x.ID.V, y.ID.V))
	})
}

// storage is the folder of the tree that a session file stands in.
func storage(path string) string { return filepath.Dir(filepath.Dir(filepath.Dir(path))) }

func idOf(path string) string { return strings.TrimSuffix(filepath.Base(path), ".json") }

// jsonFiles lists the JSON files of a folder by name; IDs are made so that this
// is the order of time.
func jsonFiles(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".json") {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	return out
}

// treeFiles lists the message and part files of a session file.
func treeFiles(path string) []string {
	root := storage(path)
	var out []string
	for _, message := range jsonFiles(filepath.Join(root, "message", idOf(path))) {
		out = append(out, message)
		out = append(out, jsonFiles(filepath.Join(root, "part", idOf(message)))...)
	}
	return out
}
