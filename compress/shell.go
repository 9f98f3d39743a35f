package compress

import "strings"

// The shell splitter reads as much of the shell language as is needed to know
// which commands print: lists (; & && || newline), pipes, groups, loops and
// conditionals, quotes, here-documents, redirections, comments. It expands nothing
// and knows no case and no arithmetic. What it does not understand is an error,
// and the caller then treats the whole line as unknown. Every character is looked
// at once per level of nesting, and nesting is limited.

// maxDepth limits how deep groups and substitutions may nest.
const maxDepth = 32

// word is a word of a command, quotes and escapes removed, substitutions as written.
type word struct {
	text   string
	quoted bool // some of it was quoted
	vars   bool // holds a variable
	runs   bool // holds the output of a command: $(…), backticks, <(…)
}

// command is a command with its arguments, or a group of commands.
type command struct {
	words  []word
	group  []pipeline   // body of a group, loop or conditional; words is empty
	opaque bool         // understood to be there, not what it prints
	silent bool         // what it prints goes to a file, or it only defines something
	here   *pendingHere // its here-document; nil none
}

// pipeline is commands whose output goes to the next one.
type pipeline []command

// parser splits one command line.
type parser struct {
	src   string
	pos   int
	ps    bool // PowerShell: the backtick escapes, braces are arguments, no here-documents
	depth int
	bad   bool
	here  []*pendingHere // here-documents whose bodies begin behind the next newline
}

// pendingHere is a here-document that was announced.
type pendingHere struct {
	end  string
	tabs bool // leading tabs do not count
	body string
}

// parseShell splits a command line into its pipelines, in order. ok is false where
// it holds something the splitter does not know.
func parseShell(src string, ps bool) (list []pipeline, ok bool) {
	p := &parser{src: src, ps: ps}
	list = p.list("")
	return list, !p.bad && p.pos >= len(p.src)
}

// list reads pipelines up to the closing words or characters in ends (separated by
// spaces; "" the end of the source). The closer itself is left to the caller.
func (p *parser) list(ends string) []pipeline {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxDepth {
		p.bad = true
	}
	var out []pipeline
	for !p.bad {
		p.separators()
		if p.pos >= len(p.src) || p.atEnd(ends) {
			break
		}
		from := p.pos
		if pl := p.pipeline(); len(pl) > 0 {
			out = append(out, pl)
		}
		if p.pos == from {
			p.bad = true
		}
	}
	return out
}

// separators skips what stands between pipelines.
func (p *parser) separators() {
	for p.blanks(); p.pos < len(p.src); p.blanks() {
		switch p.src[p.pos] {
		case ';', '&':
			p.pos++
		case '\n':
			p.newline()
		case '|': // of ||
			if !strings.HasPrefix(p.src[p.pos:], "||") {
				return
			}
			p.pos += 2
		default:
			return
		}
	}
}

// blanks skips spaces, joined lines and comments.
func (p *parser) blanks() {
	for p.pos < len(p.src) {
		switch c := p.src[p.pos]; {
		case c == ' ' || c == '\t' || c == '\r':
			p.pos++
		case c == p.escape() && p.pos+1 < len(p.src) && p.src[p.pos+1] == '\n':
			p.pos += 2
		case c == '#' && (p.pos == 0 || strings.IndexByte(" \t\n;&|()", p.src[p.pos-1]) >= 0):
			end := strings.IndexByte(p.src[p.pos:], '\n')
			if end < 0 {
				end = len(p.src) - p.pos
			}
			p.pos += end
		default:
			return
		}
	}
}

// skip steps over n characters, or to the end.
func (p *parser) skip(n int) { p.pos = min(p.pos+n, len(p.src)) }

// escape is the character that takes the meaning of the next one away.
func (p *parser) escape() byte {
	if p.ps {
		return '`'
	}
	return '\\'
}

// newline steps over a line end and the here-documents that begin behind it.
func (p *parser) newline() {
	p.pos++
	for _, h := range p.here {
		h.body = p.hereBody(h)
	}
	p.here = nil
}

// hereBody steps over a here-document and its last line and returns its text.
func (p *parser) hereBody(h *pendingHere) string {
	from := p.pos
	for p.pos < len(p.src) {
		line := p.src[p.pos:]
		at := p.pos
		if i := strings.IndexByte(line, '\n'); i >= 0 {
			line = line[:i]
			p.pos += i + 1
		} else {
			p.pos = len(p.src)
		}
		line = strings.TrimSuffix(line, "\r")
		if h.tabs {
			line = strings.TrimLeft(line, "\t")
		}
		if line == h.end {
			return p.src[from:at]
		}
	}
	return p.src[from:]
}

// atEnd says whether one of the closers comes next.
func (p *parser) atEnd(ends string) bool {
	for _, end := range strings.Fields(ends) {
		if end == ")" && p.src[p.pos] == ')' || p.peekWord() == end {
			return true
		}
	}
	return false
}

// peekWord returns the plain word that comes next, "" if something else does.
func (p *parser) peekWord() string {
	i := p.pos
	for i < len(p.src) && i-p.pos < 64 && strings.IndexByte(" \t\r\n;&|()<>", p.src[i]) < 0 {
		i++
	}
	return p.src[p.pos:i]
}

// expect steps over a closer.
func (p *parser) expect(closer string) {
	p.separators()
	if p.bad || p.pos >= len(p.src) || !p.atEnd(closer) {
		p.bad = true
		return
	}
	p.pos += len(closer)
}

// pipeline reads commands joined by pipes.
func (p *parser) pipeline() pipeline {
	var out pipeline
	for !p.bad {
		p.blanks()
		c := p.command()
		out = append(out, c)
		p.blanks()
		if p.pos >= len(p.src) || p.src[p.pos] != '|' || strings.HasPrefix(p.src[p.pos:], "||") {
			return out
		}
		p.pos++
		if p.pos < len(p.src) && p.src[p.pos] == '&' {
			p.pos++
		}
		for p.blanks(); p.pos < len(p.src) && p.src[p.pos] == '\n'; p.blanks() {
			p.newline()
		}
	}
	return out
}

// command reads one command, simple or compound.
func (p *parser) command() command {
	for {
		switch p.peekWord() {
		case "!":
			p.pos++
			p.blanks()
			continue
		case "time":
			p.timeWord()
			continue
		}
		break
	}
	c, compound := p.compound()
	if !compound {
		return p.simple()
	}
	rest := p.simple()
	if len(rest.words) > 0 {
		p.bad = true
	}
	c.silent = c.silent || rest.silent
	return c
}

// timeWord steps over time and its options, so that what it measures is left.
func (p *parser) timeWord() {
	p.pos += len("time")
	for p.blanks(); strings.HasPrefix(p.peekWord(), "-"); p.blanks() {
		p.pos += len(p.peekWord())
	}
}

// compound reads a group, loop or conditional, if one comes next.
func (p *parser) compound() (command, bool) {
	rest := p.src[p.pos:]
	if strings.HasPrefix(rest, "((") {
		return p.skipTo("))"), true
	}
	if strings.HasPrefix(rest, "(") {
		p.pos++
		return p.group(")"), true
	}
	if p.ps {
		return command{}, false
	}
	switch w := p.peekWord(); w {
	case "{":
		p.pos++
		return p.group("}"), true
	case "[[":
		return p.skipTo("]]"), true
	case "for", "select":
		p.pos += len(w)
		p.untilWord("do")
		return p.group("done"), true
	case "while", "until":
		p.pos += len(w)
		test := p.list("do")
		p.expect("do")
		body := p.group("done")
		body.group = append(test, body.group...)
		return body, true
	case "if":
		return p.conditional(), true
	case "case":
		p.untilWord("esac")
		return command{opaque: true}, true
	case "function":
		return p.function(), true
	}
	if p.atFunction() {
		return p.function(), true
	}
	return command{}, false
}

// group reads a list and its closer.
func (p *parser) group(closer string) command {
	list := p.list(closer)
	p.expect(closer)
	return command{group: list, opaque: len(list) == 0}
}

func (p *parser) conditional() command {
	p.pos += len("if")
	var all []pipeline
	for {
		all = append(all, p.list("then")...)
		p.expect("then")
		all = append(all, p.list("elif else fi")...)
		if p.bad || p.peekWord() != "elif" {
			break
		}
		p.pos += len("elif")
	}
	if p.peekWord() == "else" {
		p.pos += len("else")
		all = append(all, p.list("fi")...)
	}
	p.expect("fi")
	return command{group: all}
}

// atFunction says whether a definition NAME() comes next.
func (p *parser) atFunction() bool {
	name := p.peekWord()
	return name != "" && strings.HasPrefix(p.src[p.pos+len(name):], "()")
}

// function reads a definition, which prints nothing.
func (p *parser) function() command {
	if p.peekWord() == "function" {
		p.pos += len("function")
		p.blanks()
	}
	p.pos += len(p.peekWord())
	if strings.HasPrefix(p.src[p.pos:], "()") {
		p.pos += 2
	}
	for p.blanks(); p.pos < len(p.src) && p.src[p.pos] == '\n'; p.blanks() {
		p.newline()
	}
	if _, ok := p.compound(); !ok {
		p.bad = true
	}
	return command{silent: true}
}

// skipTo steps over a test or arithmetic, which prints nothing.
func (p *parser) skipTo(closer string) command {
	i := strings.Index(p.src[p.pos:], closer)
	if i < 0 {
		p.bad = true
		return command{}
	}
	p.pos += i + len(closer)
	return command{silent: true}
}

// untilWord skips words and separators up to and over a keyword.
func (p *parser) untilWord(keyword string) {
	for !p.bad && p.pos < len(p.src) {
		p.blanks()
		if p.peekWord() == keyword {
			p.pos += len(keyword)
			return
		}
		from := p.pos
		if p.pos < len(p.src) && strings.IndexByte("\n;&|()<>", p.src[p.pos]) >= 0 {
			p.pos++
		} else {
			p.word()
		}
		if p.pos == from {
			break
		}
	}
	p.bad = true
}

// simple reads the words and redirections of a simple command, or those that stand
// behind a compound one.
func (p *parser) simple() command {
	var c command
	for !p.bad {
		p.blanks()
		if p.pos >= len(p.src) {
			return c
		}
		switch ch := p.src[p.pos]; {
		case strings.IndexByte("\n;|", ch) >= 0 || ch == '&' && !strings.HasPrefix(p.src[p.pos:], "&>"):
			return c
		case ch == ')' && p.depth > 1:
			return c
		case ch == '(' || ch == ')':
			p.bad = true
		case p.redirected(&c):
		default:
			c.words = append(c.words, p.word())
		}
	}
	return c
}
