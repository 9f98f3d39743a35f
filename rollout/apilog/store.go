package apilog

import (
	"crypto/sha256"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout"
)

// part is one separately sent piece of a payload. Equal parts are one part.
type part struct {
	kind    rollout.ItemKind
	role    rollout.Role
	tool    string
	callID  string
	label   string
	text    int32 // index of its text in the store
	outcome outcome
}

// outcome is what a tool result says of its call.
type outcome int8

const (
	notTold outcome = iota
	succeeded
	failed
)

// text is a distinct text, or opaque data of which only the sum is kept.
type text struct {
	s      string
	hash   [32]byte
	chars  int
	bytes  int
	opaque bool
	image  int64 // tokens of an image; 0 for everything else
}

type textKey struct {
	hash   [32]byte
	opaque bool
}

// node is the end of a list of parts: the list of its parent and one part more.
// Node 0 is the empty list.
type node struct {
	parent, part, depth int32
}

type edge struct{ parent, part int32 }

type messageKey struct {
	tag  string
	hash [32]byte
}

// store holds every text, part and list of parts of a file once.
type store struct {
	texts    []text
	byHash   map[textKey]int32
	parts    []part
	byPart   map[part]int32
	nodes    []node
	next     map[edge]int32
	messages map[messageKey][]int32 // parts of a message by its JSON
}

func newStore() *store {
	return &store{
		byHash: map[textKey]int32{}, byPart: map[part]int32{}, nodes: []node{{}},
		next: map[edge]int32{}, messages: map[messageKey][]int32{},
	}
}

func (st *store) internText(t text) int32 {
	key := textKey{t.hash, t.opaque}
	if id, ok := st.byHash[key]; ok {
		return id
	}
	id := int32(len(st.texts))
	st.texts = append(st.texts, t)
	st.byHash[key] = id
	return id
}

func (st *store) part(p part) int32 {
	if id, ok := st.byPart[p]; ok {
		return id
	}
	id := int32(len(st.parts))
	st.parts = append(st.parts, p)
	st.byPart[p] = id
	return id
}

// list is the node of a list that begins with the list of from.
func (st *store) list(from int32, parts []int32) int32 {
	for _, p := range parts {
		e := edge{from, p}
		to, ok := st.next[e]
		if !ok {
			to = int32(len(st.nodes))
			st.nodes = append(st.nodes, node{from, p, st.nodes[from].depth + 1})
			st.next[e] = to
		}
		from = to
	}
	return from
}

// partsOf is the list that ends at a node.
func (st *store) partsOf(n int32) []int32 {
	out := make([]int32, st.nodes[n].depth)
	for ; n != 0; n = st.nodes[n].parent {
		out[st.nodes[n].depth-1] = st.nodes[n].part
	}
	return out
}

// string is the text of a part; "" for opaque data.
func (st *store) string(id int32) string { return st.texts[st.parts[id].text].s }

// cached gives the parts of a piece of JSON, parsing it only when it is new.
func (st *store) cached(tag string, raw jsontext.Value, parse func() []int32) []int32 {
	key := messageKey{tag, sha256.Sum256(raw)}
	if parts, ok := st.messages[key]; ok {
		return parts
	}
	parts := parse()
	st.messages[key] = parts
	return parts
}
