package freecode

// joiner walks the stored messages beside the events. Stored lines stand in the
// order of the conversation; next is the first one not yet placed.
type joiner struct {
	lines []*message
	next  int
	texts []memoryMessage // memory.json, for sessions without a store
	nextT int
}

// before takes the lines stored up to a time that no response claimed: prompts,
// steered messages, images, and copied history.
func (j *joiner) before(ts int64) []*message {
	from := j.next
	for j.next < len(j.lines) && j.lines[j.next].Timestamp <= ts {
		j.next++
	}
	return j.lines[from:j.next]
}

// waiting is how many lines before would take.
func (j *joiner) waiting(ts int64) int64 {
	n := int64(0)
	for i := j.next; i < len(j.lines) && j.lines[i].Timestamp <= ts; i++ {
		n++
	}
	return n
}

// response finds the stored group of a response: the text line if it had text,
// then one line per call. It returns the lines skipped before the group, and
// whether the group was found.
func (j *joiner) response(e *event, t *turn) (skipped []*message, found bool) {
	if n := j.match(j.next, e, t, true); n > 0 {
		j.next += n
		return nil, true
	}
	if e.Input == nil || *e.Input == 0 {
		return nil, false
	}
	for i := j.next + 1; i < len(j.lines); i++ {
		if !sameUsage(j.lines[i].Usage, e) || j.lines[i].Timestamp < e.Timestamp {
			continue
		}
		if n := j.match(i, e, t, false); n > 0 {
			skipped = j.lines[j.next:i]
			j.next = i + n
			return skipped, true
		}
	}
	return nil, false
}

// match tries the lines from i on as the response's group and fills the turn in.
// It returns how many lines belong to it, 0 for no match.
func (j *joiner) match(i int, e *event, t *turn, checkUsage bool) int {
	start := i
	if i >= len(j.lines) || j.lines[i].Role != "assistant" || j.lines[i].Timestamp < e.Timestamp {
		return 0
	}
	if checkUsage && j.lines[i].Usage != nil && e.Input != nil && !sameUsage(j.lines[i].Usage, e) {
		return 0
	}
	first, _ := j.lines[i].tool()
	wantText := e.TextChars > 0 || len(e.ToolCalls) == 0
	if wantText && first == nil {
		t.text, t.hasText, t.textID = assistantText(j.lines[i]), true, j.lines[i].ID
		i++
	}
	for _, s := range t.slots {
		if i >= len(j.lines) || j.lines[i].Role != "assistant" || i > start && j.lines[i].Usage != nil {
			break
		}
		part, n := j.lines[i].tool()
		if part == nil || part.Tool.Name != s.tool {
			break
		}
		s.stored, s.id, s.part = part, j.lines[i].ID, n
		i++
	}
	return i - start
}

// sameUsage compares the usage of a stored line with that of a response.
func sameUsage(u *storedUsage, e *event) bool {
	return u != nil && sameCount(u.Input, e.Input) && sameCount(u.Output, e.Output) && sameCount(u.CacheRead, e.CacheRead)
}

func sameCount(a, b *int64) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

func assistantText(m *message) string {
	text := ""
	for i := range m.Parts {
		if t := m.Parts[i].Type; t == "text" || t == "code" {
			text += m.Parts[i].text()
		}
	}
	return text
}

// remembered finds a text in memory.json by role, time and length; length
// unknownChars takes any. Without a store it is the only copy.
func (j *joiner) remembered(role string, from, to, length int64) (string, bool) {
	for i := j.nextT; i < len(j.texts); i++ {
		m := &j.texts[i]
		if m.Timestamp > to {
			break
		}
		if m.Role == role && m.Timestamp >= from && (length == unknownChars || units(m.Content) == length) {
			j.nextT = i + 1
			return m.Content, true
		}
	}
	return "", false
}
