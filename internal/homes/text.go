package homes

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// projects is how many projects the sessions of a home share: their files are
// read in many sessions, as happens in a real home.
const projects = 12

// project is what the sessions of one folder work on.
type project struct {
	name  string
	names []string // identifiers
	files []sourceFile
}

type sourceFile struct {
	path  string
	lines []string
}

func newProject(seed uint64, number int) *project {
	rng := rand.New(rand.NewPCG(seed^0x70726f6a, uint64(number)))
	p := &project{name: fmt.Sprintf("%s-%s-%d", words[rng.IntN(len(words))], words[rng.IntN(len(words))], number)}
	for range 900 {
		p.names = append(p.names, identifier(rng))
	}
	for i := range 60 {
		f := sourceFile{path: fmt.Sprintf("/home/dev/src/%s/%s/%s_%d.go", p.name, strings.ToLower(p.names[i]), words[rng.IntN(len(words))], i)}
		w := &writer{rng: rng, project: p}
		for range 60 + rng.IntN(500) {
			f.lines = append(f.lines, w.codeLine())
		}
		p.files = append(p.files, f)
	}
	return p
}

// identifier joins up to three words, or parts of words as real names have.
func identifier(rng *rand.Rand) string {
	var b strings.Builder
	for range 1 + rng.IntN(3) {
		w := words[rng.IntN(len(words))]
		if rng.IntN(4) == 0 && len(w) > 4 {
			w = w[:3+rng.IntN(2)]
		}
		if b.Len() > 0 {
			w = strings.ToUpper(w[:1]) + w[1:]
		}
		b.WriteString(w)
	}
	return b.String()
}

// writer makes texts of a session.
type writer struct {
	rng     *rand.Rand
	project *project
}

func newWriter(rng *rand.Rand, p *project) *writer { return &writer{rng, p} }

func (w *writer) word() string { return words[w.rng.IntN(len(words))] }
func (w *writer) name() string { return w.project.names[w.rng.IntN(len(w.project.names))] }
func (w *writer) file() sourceFile {
	return w.project.files[w.rng.IntN(len(w.project.files))]
}

func (w *writer) codeLine() string {
	indent := strings.Repeat("\t", w.rng.IntN(4))
	a, b, c := w.name(), w.name(), w.name()
	switch w.rng.IntN(13) {
	case 0:
		return fmt.Sprintf("func (%s *%s) %s(ctx context.Context, %s []%s) error {", a[:1], strings.ToUpper(a[:1])+a[1:], b, c, a)
	case 1:
		return fmt.Sprintf("%sif err := %s.%s(%s); err != nil {", indent, a, b, c)
	case 2:
		return fmt.Sprintf("%sreturn fmt.Errorf(\"%s %s: %%w\", err)", indent, w.word(), w.word())
	case 3:
		return fmt.Sprintf("%s%s := make(map[string]%s, len(%s))", indent, a, b, c)
	case 4:
		return fmt.Sprintf("%s// %s", indent, w.sentence())
	case 5:
		return indent + "}"
	case 6:
		return ""
	case 7:
		return fmt.Sprintf("%s%s = append(%s, %s[%d])", indent, a, a, b, w.rng.IntN(300))
	case 8:
		return fmt.Sprintf("%s{name: %q, want: %d, %s: %t},", indent, a+" "+w.word(), w.rng.IntN(100000), b, w.rng.IntN(2) == 0)
	case 9:
		return fmt.Sprintf("%sconst %s = await %s.%s(`/api/${%s}/%s`);", indent, a, b, c, a, w.word())
	case 10:
		return fmt.Sprintf("%sself.%s = %s(%s, timeout=%d.%d)", indent, a, b, c, w.rng.IntN(60), w.rng.IntN(10))
	case 11:
		return fmt.Sprintf("%sfor _, %s := range %s.%s {", indent, a, b, c)
	}
	return fmt.Sprintf("%s%s.%s(%s, &%s{%s: %d})", indent, a, b, c, a, b, w.rng.IntN(5000))
}

func (w *writer) sentence() string {
	var b strings.Builder
	for i := range 5 + w.rng.IntN(14) {
		s := w.word()
		switch w.rng.IntN(9) {
		case 0:
			s = "`" + w.name() + "`"
		case 1, 2, 3:
			s = joints[w.rng.IntN(len(joints))]
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(s)
	}
	return b.String() + "."
}

// prose is what a person or a model writes.
func (w *writer) prose(bytes int) string {
	var b strings.Builder
	for b.Len() < bytes {
		switch w.rng.IntN(8) {
		case 0:
			b.WriteString("\n\n- **" + w.word() + "**: ")
		case 1:
			b.WriteString("\n\n")
		default:
			b.WriteByte(' ')
		}
		b.WriteString(w.sentence())
	}
	return strings.TrimSpace(b.String())
}

// listing is a part of a file with numbers in front of its lines.
func (w *writer) listing(bytes int, separator string) (path, text string) {
	f := w.file()
	start := 0
	if w.rng.IntN(2) == 0 {
		start = w.rng.IntN(len(f.lines)) / 50 * 50
	}
	var b strings.Builder
	for i := start; i < len(f.lines) && b.Len() < bytes; i++ {
		line := f.lines[i]
		if w.rng.IntN(60) == 0 { // edited since
			line = w.codeLine()
		}
		fmt.Fprintf(&b, "%6d%s%s\n", i+1, separator, line)
	}
	return f.path, b.String()
}

// testLog is the output of a test run or a build.
func (w *writer) testLog(bytes int) string {
	var b strings.Builder
	for b.Len() < bytes {
		f := w.file()
		n := w.rng.IntN(1000)
		switch w.rng.IntN(7) {
		case 0:
			fmt.Fprintf(&b, "=== RUN   Test%s/%s_%d\n", w.name(), w.word(), n)
		case 1:
			fmt.Fprintf(&b, "--- PASS: Test%s (%d.%02ds)\n", w.name(), n%9, n%100)
		case 2:
			fmt.Fprintf(&b, "ok  \tgithub.com/acme/%s/%s\t%d.%03ds\n", w.project.name, w.word(), n%30, n)
		case 3:
			fmt.Fprintf(&b, "    %s:%d: expected %q, got %q\n", f.path, n, w.name(), w.name())
		case 4:
			fmt.Fprintf(&b, "2026-0%d-%02dT%02d:%02d:%02d.%03dZ INFO  [%s] %s id=%08x duration=%dms\n", 1+n%9, 1+n%28, n%24, n%60, n%59, n, w.word(), w.sentence(), w.rng.Uint32(), n)
		case 5:
			fmt.Fprintf(&b, "warning: unused import `%s::%s` at 0x%012x\n", w.name(), w.name(), w.rng.Uint64()>>16)
		case 6:
			fmt.Fprintf(&b, "-rw-r--r-- 1 dev dev %7d Mar %2d %02d:%02d %s\n", w.rng.IntN(4000000), 1+n%28, n%24, n%60, f.path)
		}
	}
	return b.String()
}

// diff is a unified diff of one of the project's files.
func (w *writer) diff(bytes int) string {
	f := w.file()
	var b strings.Builder
	fmt.Fprintf(&b, "diff --git a%s b%s\nindex %07x..%07x 100644\n--- a%s\n+++ b%s\n", f.path, f.path, w.rng.Uint32()>>4, w.rng.Uint32()>>4, f.path, f.path)
	for b.Len() < bytes {
		at := w.rng.IntN(len(f.lines))
		fmt.Fprintf(&b, "@@ -%d,7 +%d,7 @@\n", at+1, at+1)
		for _, line := range f.lines[at:min(at+7, len(f.lines))] {
			if w.rng.IntN(3) == 0 {
				fmt.Fprintf(&b, "-%s\n+%s\n", line, w.codeLine())
				continue
			}
			fmt.Fprintf(&b, " %s\n", line)
		}
	}
	return b.String()
}

// object is a JSON document such as an API answers.
func (w *writer) object(bytes int) string {
	var b strings.Builder
	b.WriteString("{\n  \"items\": [")
	for i := 0; b.Len() < bytes; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "\n    {\"id\": \"%08x-%04x\", %q: %d, \"%s\": %q, \"url\": \"https://api.example.com/v%d/%s/%d\", \"ok\": %t}",
			w.rng.Uint32(), w.rng.Uint32()>>16, w.name(), w.rng.IntN(1e6), w.name(), w.sentence(), w.rng.IntN(4), w.word(), w.rng.IntN(1e5), w.rng.IntN(2) == 0)
	}
	return b.String() + "\n  ]\n}"
}

// secret is data that only a provider can read.
func (w *writer) secret(bytes int) string {
	raw := make([]byte, bytes*3/4)
	for i := range raw {
		raw[i] = byte(w.rng.Uint32())
	}
	return base64.StdEncoding.EncodeToString(raw)
}

// output is what one command printed.
func (w *writer) output() string {
	bytes := w.length(1800)
	switch w.rng.IntN(6) {
	case 0:
		return w.diff(bytes)
	case 1:
		return w.object(bytes)
	case 2:
		return "(no output)"
	}
	return w.testLog(bytes)
}

// length draws a size: most are small, some large, 30 KB at most as agents cut there.
func (w *writer) length(median float64) int {
	n := median
	for range 3 {
		n *= .35 + 1.6*w.rng.Float64()
	}
	if w.rng.IntN(12) == 0 {
		n *= 6
	}
	return int(min(max(n, 20), 30_000))
}

// quote writes a JSON string.
func quote(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}

var joints = strings.Fields("the a of to and in is that for it with as on be at by this we are from or an not have but was which so if will can all when there its then no into only also than after must should now")

var words = strings.Fields(`account action adapter address agent alias allow amount answer append archive argument array asset assign async
attempt attribute audit author backend balance batch before binary block body border branch bridge broker browser bucket budget buffer build bundle
button cache callback cancel capture cart case catalog change channel check chunk claim class clean client clock cluster code collect column command
commit compare compile config connect constant container content context convert cookie copy core count coverage create credit cursor customer daemon
data database deadline debug decode default define delay delete deploy derive detail device digest dispatch document domain download draft driver
duplicate duration edge editor element email embed enable encode endpoint engine entity entry error escape event example exchange execute expect
export express extend extract factory failure feature fetch field figure file filter finish fixture flag flush folder follow font footer format
forward fragment frame function gateway generate global grant graph group guard handle handler hash header helper hidden history hook host icon
identity ignore image import index indicator inject inline input insert inspect install instance integer interface interval inventory invoice
issue iterate journal kernel label latest launch layer layout ledger length level library license limit linear link listen literal load local locale
location lock logger login lookup machine manager manifest mapping margin marker match matrix measure member memory merge message metadata method metric
middleware migrate minimum mirror mobile model module monitor mount mutex namespace network node normal notify number object observe offset online
operator option order origin output overflow owner package packet page panel parallel parameter parent parse partial partition password patch path
pattern payload payment permission persist phase pipeline pixel platform plugin pointer policy pool port position prefix prepare preview price print
priority private process product profile progress project promise prompt property protocol provider proxy publish purchase query queue quota random
range rate read receipt record recover redirect reduce refactor reference refresh region register registry release remote remove render repeat replace
reply report repository request require reset resolve resource response restore result retry return review role rollback rotate route router rule
runtime sample scale scan schedule schema scope screen script search section secret segment select sender sequence serial server service session
setting shadow shard share shell shipping signal signature simple size slice snapshot socket sort source space span split stack stage standard start
state static status storage store stream string struct submit subscribe success suffix summary support suspend switch symbol sync system table target
task template tenant terminal test text theme thread threshold throttle ticket timeout timer title token toggle topic total trace track transaction
transfer transform transport trigger tuple type unique unit update upload usage user utility validate value variable vector vendor verify version view
virtual visible volume wait warning watch webhook widget window worker workflow workspace wrapper write yield zone`)

// Text makes a text of some kind: "code", "log", "diff", "json" or "prose". Its
// parts are as new as in one session; the same seed gives the same text.
func Text(kind string, bytes int, seed uint64) string {
	w := newWriter(rand.New(rand.NewPCG(seed, 1)), newProject(seed, 0))
	var b strings.Builder
	for b.Len() < bytes {
		switch kind {
		case "code":
			b.WriteString(w.codeLine() + "\n")
		case "log":
			b.WriteString(w.testLog(2000))
		case "diff":
			b.WriteString(w.diff(2000))
		case "json":
			b.WriteString(w.object(2000))
		default:
			b.WriteString(w.prose(2000) + "\n")
		}
	}
	return b.String()[:bytes]
}
