package compress

import "strings"

// redirected reads a redirection, if one comes next.
func (p *parser) redirected(c *command) bool {
	i := p.pos
	for i < len(p.src) && p.src[i] >= '0' && p.src[i] <= '9' {
		i++
	}
	fd := p.src[p.pos:i]
	if p.ps && i < len(p.src) && p.src[i] == '*' {
		fd = "*"
		i++
	}
	if fd == "" && strings.HasPrefix(p.src[i:], "&>") {
		fd = "&"
		i++
	}
	if i >= len(p.src) || p.src[i] != '<' && p.src[i] != '>' || isSubstitution(p.src[i:]) {
		return false
	}
	p.pos = i
	if p.src[i] == '<' {
		p.input(c)
		return true
	}
	op := p.operator(">>", ">&", ">|", ">")
	p.blanks()
	target := p.word()
	if op == ">&" && (target.text == "" || strings.Trim(target.text, "0123456789-") == "") {
		return true // joins two outputs; what is printed stays to be seen
	}
	if (fd == "" || fd == "1" || fd == "&" || fd == "*") && !strings.HasPrefix(target.text, "/dev/std") && target.text != "/dev/tty" {
		c.silent = true
	}
	return true
}

// isSubstitution says whether < or > opens a process substitution.
func isSubstitution(s string) bool {
	return strings.HasPrefix(s, "<(") || strings.HasPrefix(s, ">(")
}

// input reads what stands behind <.
func (p *parser) input(c *command) {
	op := p.operator("<<<", "<<-", "<<", "<&", "<>", "<")
	p.blanks()
	w := p.word()
	if op != "<<" && op != "<<-" {
		return
	}
	if p.ps || w.text == "" {
		p.bad = true
		return
	}
	h := &pendingHere{end: w.text, tabs: op == "<<-"}
	p.here = append(p.here, h)
	c.here = h
}

// operator steps over the first of the operators that comes next.
func (p *parser) operator(ops ...string) string {
	for _, op := range ops {
		if strings.HasPrefix(p.src[p.pos:], op) {
			p.pos += len(op)
			return op
		}
	}
	return ""
}

// word reads one word.
func (p *parser) word() word {
	var w word
	var text strings.Builder
	for p.pos < len(p.src) && !p.bad {
		switch c := p.src[p.pos]; {
		case isSubstitution(p.src[p.pos:]) && text.Len() == 0:
			p.pos++
			p.parens()
			w.runs = true
		case strings.IndexByte(" \t\r\n;&|()<>", c) >= 0:
			w.text = text.String()
			return w
		case c == p.escape():
			p.pos++
			if p.pos < len(p.src) {
				w.quoted = true
				text.WriteByte(p.src[p.pos])
				p.pos++
			}
		case c == '\'':
			w.quoted = true
			p.single(&text)
		case c == '"':
			w.quoted = true
			p.double(&text, &w)
		case p.ps && (c == '{' || c == '@' && strings.HasPrefix(p.src[p.pos:], "@{")):
			text.WriteString(p.braces())
		case c == '$' || c == '`':
			p.dollar(&text, &w)
		default:
			text.WriteByte(c)
			p.pos++
		}
	}
	w.text = text.String()
	return w
}

// single reads a text in single quotes. PowerShell doubles a quote to write it.
func (p *parser) single(text *strings.Builder) {
	for {
		p.pos++
		end := strings.IndexByte(p.src[p.pos:], '\'')
		if end < 0 {
			p.bad = true
			return
		}
		text.WriteString(p.src[p.pos : p.pos+end])
		p.pos += end + 1
		if !p.ps || p.pos >= len(p.src) || p.src[p.pos] != '\'' {
			return
		}
		text.WriteByte('\'')
	}
}

// double reads a text in double quotes.
func (p *parser) double(text *strings.Builder, w *word) {
	p.pos++
	for p.pos < len(p.src) && !p.bad {
		switch c := p.src[p.pos]; {
		case c == '"':
			p.pos++
			return
		case c == p.escape() && p.pos+1 < len(p.src):
			if next := p.src[p.pos+1]; !p.ps && strings.IndexByte("\"\\$`\n", next) < 0 {
				text.WriteByte(c)
			}
			text.WriteByte(p.src[p.pos+1])
			p.pos += 2
		case c == '$' || c == '`':
			p.dollar(text, w)
		default:
			text.WriteByte(c)
			p.pos++
		}
	}
	p.bad = true
}

// dollar reads a variable or a command substitution and keeps it as written.
func (p *parser) dollar(text *strings.Builder, w *word) {
	from := p.pos
	switch rest := p.src[p.pos:]; {
	case rest[0] == '`':
		w.runs = true
		p.backticks()
	case strings.HasPrefix(rest, "$("):
		w.runs = true
		p.pos++
		p.parens()
	case strings.HasPrefix(rest, "${"):
		w.vars = true
		end := strings.IndexByte(rest, '}')
		if end < 0 {
			p.bad = true
			return
		}
		p.pos += end + 1
	case strings.HasPrefix(rest, "$'") && !p.ps:
		w.quoted = true
		p.pos++
		p.ansi(text)
		return
	default:
		w.vars = w.vars || len(rest) > 1
		p.pos++
	}
	text.WriteString(p.src[from:p.pos])
}

// ansi reads a $'…' text; escapes are kept as written.
func (p *parser) ansi(text *strings.Builder) {
	for p.pos++; p.pos < len(p.src); p.pos++ {
		switch c := p.src[p.pos]; {
		case c == '\'':
			p.pos++
			return
		case c == '\\' && p.pos+1 < len(p.src):
			text.WriteByte(c)
			p.pos++
		}
		text.WriteByte(p.src[p.pos])
	}
	p.bad = true
}

func (p *parser) backticks() {
	for p.pos++; p.pos < len(p.src); p.skip(1) {
		switch p.src[p.pos] {
		case '\\':
			p.pos++
		case '`':
			p.pos++
			return
		}
	}
	p.bad = true
}

// parens steps over a substitution in parentheses, with all that may hide a
// closing one: quotes, inner substitutions, here-documents.
func (p *parser) parens() {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxDepth {
		p.bad = true
	}
	outer := p.here
	p.here = nil
	open := 0
	for !p.bad && p.pos < len(p.src) {
		if p.paren(&open) {
			p.here = outer
			return
		}
	}
	p.bad = true
}

// paren steps over the next piece inside parentheses and says whether it closed
// them.
func (p *parser) paren(open *int) (closed bool) {
	var text strings.Builder
	switch c := p.src[p.pos]; c {
	case '(':
		*open++
		p.pos++
	case ')':
		*open--
		p.pos++
		return *open == 0
	case '\'':
		p.single(&text)
	case '"':
		p.double(&text, &word{})
	case '$', '`':
		if p.ps && c == '`' {
			p.skip(2)
			break
		}
		p.dollar(&text, &word{})
	case '\\':
		p.skip(2)
	case '\n':
		p.newline()
	case '<':
		if strings.HasPrefix(p.src[p.pos:], "<<") && !strings.HasPrefix(p.src[p.pos:], "<<<") && !p.ps {
			p.input(&command{})
			break
		}
		p.pos++
	default:
		p.pos++
	}
	return false
}

// braces reads a PowerShell script block, as written.
func (p *parser) braces() string {
	from, open := p.pos, 0
	for p.pos < len(p.src) {
		switch p.src[p.pos] {
		case '{':
			open++
		case '}':
			open--
		}
		p.pos++
		if open == 0 && p.src[p.pos-1] == '}' {
			return p.src[from:p.pos]
		}
	}
	p.bad = true
	return ""
}
