package prompts

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fclog/fclog/internal/nearest"
	"github.com/fclog/fclog/internal/smallfile"
)

// Target is what a prompt variant stands in for.
type Target string

const (
	System  Target = "system"  // the system prompt; the default
	Tools   Target = "tools"   // the tool definitions
	Nothing Target = "nothing" // it is sent in addition
)

// Variant is a prompt as text.
type Variant struct {
	Name     string // file name without folder and extension
	Title    string // one line; "" none given
	Replaces Target
	Text     string // as sent
}

//go:embed texts/*.md
var texts embed.FS

// Shipped lists the variants that come with fclog, by name.
func Shipped() ([]Variant, error) {
	names, err := fs.Glob(texts, "texts/*.md")
	if err != nil {
		return nil, fmt.Errorf("listing prompt variants: %w", err)
	}
	slices.Sort(names)
	var out []Variant
	for _, name := range names {
		data, err := texts.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("reading prompt variant: %w", err)
		}
		v, err := Parse(name, data)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// maxFile bounds a prompt file in bytes; larger than any context window.
const maxFile = 8 << 20

// readText reads a prompt file, and refuses what is too large or no text.
func readText(name string) ([]byte, error) {
	data, err := smallfile.Read(name, maxFile)
	if err != nil {
		return nil, err
	}
	switch {
	case bytes.IndexByte(data, 0) >= 0:
		return nil, fmt.Errorf("%s is not a text file: it holds NUL bytes", name)
	case !utf8.Valid(data):
		return nil, fmt.Errorf("%s is not a text file: not valid UTF-8", name)
	}
	return data, nil
}

// Open reads a variant from a file, else takes the shipped one of that name.
func Open(name string) (Variant, error) {
	data, err := readText(name)
	if err == nil {
		return Parse(name, data)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return Variant{}, fmt.Errorf("reading prompt: %w", err)
	}
	shipped, shippedErr := Shipped()
	if shippedErr != nil {
		return Variant{}, shippedErr
	}
	var names []string
	for _, v := range shipped {
		if v.Name == name {
			return v, nil
		}
		names = append(names, v.Name)
	}
	if near := nearest.Path(name); near != "" {
		names = append(names, near)
	}
	return Variant{}, fmt.Errorf("no prompt file or variant %q%s", name, nearest.Hint(name, names))
}

// fence opens and closes the front matter of a file.
const fence = "---"

// Parse reads a variant: a text, with front matter (title, replaces) in front or
// without. What follows the front matter is sent as it stands.
func Parse(name string, data []byte) (Variant, error) {
	base := path.Base(strings.ReplaceAll(name, `\`, "/"))
	v := Variant{Name: strings.TrimSuffix(base, path.Ext(base)), Replaces: System, Text: strings.ToValidUTF8(string(data), "\uFFFD")}
	text := strings.TrimPrefix(v.Text, "\uFEFF")
	head, rest, found := strings.Cut(text, "\n")
	if !found || strings.TrimRight(head, " \r") != fence {
		return v, nil
	}
	for {
		var line string
		line, rest, found = strings.Cut(rest, "\n")
		line = strings.TrimSpace(line)
		if line == fence {
			v.Text = rest
			return v, nil
		}
		if !found {
			return v, fmt.Errorf("prompt %s: the front matter does not end: no second %s", name, fence)
		}
		if err := v.set(line); err != nil {
			return v, fmt.Errorf("prompt %s: %w", name, err)
		}
	}
}

// set takes one line of front matter.
func (v *Variant) set(line string) error {
	if line == "" || strings.HasPrefix(line, "#") {
		return nil
	}
	key, value, found := strings.Cut(line, ":")
	value = strings.Trim(strings.TrimSpace(value), `"'`)
	switch key = strings.TrimSpace(key); {
	case !found:
		return fmt.Errorf("front matter line without a colon: %q", line)
	case key == "title":
		v.Title = value
	case key == "replaces":
		v.Replaces = Target(value)
		if v.Replaces != System && v.Replaces != Tools && v.Replaces != Nothing {
			return fmt.Errorf("replaces is %s, %s or %s, not %q", System, Tools, Nothing, value)
		}
	default:
		return fmt.Errorf("unknown front matter key %q; title and replaces are known", key)
	}
	return nil
}

// Over is what the model reads under a variant whose base is known.
func (v Variant) Over(base string) string {
	if v.Replaces == Nothing {
		return base + "\n\n" + v.Text
	}
	return v.Text
}
