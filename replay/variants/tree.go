package variants

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// What a YAML file may hold. The largest sensible one is far below; what is beyond
// could keep the program busy for minutes or take all memory.
const (
	maxLines = 20_000
	maxNodes = 20_000 // lists, mappings, keys and values
	maxKeys  = 100    // of one mapping: each is compared with all others
	maxOpen  = 100    // lists and mappings within each other
)

// readYAML fills a value and returns the document for the lines of its places. An
// error names file, line and key. Anchors cannot be named again: a few lines of them
// could stand for a text of any length.
func readYAML(path string, data []byte, into any) (*yaml.Node, error) {
	if bytes.Count(data, []byte("\n"))+bytes.Count(data, []byte("\r")) > maxLines {
		return nil, fmt.Errorf("%s: more than %d lines", path, maxLines)
	}
	var tree yaml.Node
	if err := yaml.Unmarshal(data, &tree); err != nil {
		return nil, yamlError(path, nil, err)
	}
	nodes := 0
	if err := checkNode(path, &tree, 0, &nodes); err != nil {
		return nil, err
	}
	strict := yaml.NewDecoder(bytes.NewReader(data))
	strict.KnownFields(true)
	if err := strict.Decode(into); err != nil && err != io.EOF {
		return nil, yamlError(path, &tree, err)
	}
	return &tree, nil
}

func checkNode(path string, n *yaml.Node, open int, nodes *int) error {
	*nodes++
	what := ""
	switch {
	case *nodes > maxNodes:
		what = fmt.Sprintf("more than %d values", maxNodes)
	case open > maxOpen:
		what = fmt.Sprintf("more than %d lists and mappings within each other", maxOpen)
	case n.Kind == yaml.MappingNode && len(n.Content) > 2*maxKeys:
		what = fmt.Sprintf("more than %d keys in one mapping", maxKeys)
	case n.Kind == yaml.AliasNode:
		what = fmt.Sprintf("*%s: want the text itself, not another place's", n.Value)
	}
	if what != "" {
		return fmt.Errorf("%s:%d: %s", path, max(n.Line, 1), what)
	}
	for _, c := range n.Content {
		if err := checkNode(path, c, open+1, nodes); err != nil {
			return err
		}
	}
	return nil
}

// find returns the value at a place such as $.variants[0].steps, nil where there is
// none.
func find(tree *yaml.Node, at string) *yaml.Node {
	if len(tree.Content) == 0 {
		return nil
	}
	n := tree.Content[0]
	for _, part := range strings.Split(at, ".")[1:] {
		key, index, listed := strings.Cut(strings.TrimSuffix(part, "]"), "[")
		if n = child(n, key); n == nil || !listed {
			if n == nil {
				return nil
			}
			continue
		}
		i, err := strconv.Atoi(index)
		if err != nil || i >= len(n.Content) {
			return nil
		}
		n = n.Content[i]
	}
	return n
}

// child is the value of a key of a mapping.
func child(n *yaml.Node, key string) *yaml.Node {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// The forms in which the YAML reader says what is wrong.
var (
	yamlLine    = regexp.MustCompile(`^(?:yaml: )?(?:unmarshal errors:\s+)?line (\d+): (?s:(.*))$`)
	yamlUnknown = regexp.MustCompile(`^field (?s:(.*)) not found in type \S+$`)
	yamlTwice   = regexp.MustCompile(`^field (?s:(.*)) already set in type \S+$`)
	yamlType    = regexp.MustCompile(`^cannot unmarshal (\S+)(?s:.*) into (\S+)$`)
)

// yamlError puts what the YAML reader found into one line with file, line and key.
func yamlError(path string, tree *yaml.Node, err error) error {
	text := err.Error()
	var wrong *yaml.TypeError
	if errors.As(err, &wrong) && len(wrong.Errors) > 0 {
		text = wrong.Errors[0]
	}
	line, what := 1, strings.TrimPrefix(text, "yaml: ")
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1])
		what = m[2]
	}
	switch unknown, twice, kind := yamlUnknown.FindStringSubmatch(what), yamlTwice.FindStringSubmatch(what), yamlType.FindStringSubmatch(what); {
	case unknown != nil:
		what = fmt.Sprintf("unknown field %q", unknown[1])
	case twice != nil:
		what = fmt.Sprintf("%s: there already", twice[1])
	case kind != nil:
		what = keyWith(tree, line, kind[1]) + "want " + wanted(kind[2])
	}
	const longest = 200
	if what = strings.ReplaceAll(what, "\n", " "); len(what) > longest {
		what = strings.ToValidUTF8(what[:longest], "") + " …"
	}
	return fmt.Errorf("%s:%d: %s", path, line, what)
}

// wanted says in words what the reader wants where a Go type stands.
func wanted(goType string) string {
	switch {
	case strings.HasPrefix(goType, "[]"):
		return "a list"
	case goType == "string":
		return "text"
	case goType == "bool":
		return "true or false"
	}
	return "keys and values"
}

// keyWith is the key on a line whose value has a tag, with a colon.
func keyWith(n *yaml.Node, line int, tag string) string {
	if n == nil {
		return ""
	}
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if value := n.Content[i+1]; value.Line == line && value.ShortTag() == tag {
			return n.Content[i].Value + ": "
		}
	}
	for _, c := range n.Content {
		if key := keyWith(c, line, tag); key != "" {
			return key
		}
	}
	return ""
}
