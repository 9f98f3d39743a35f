package claudecode

// branches maps each line to the prompt that began the abandoned branch it
// stands on; lines of the living conversation are not in it.
//
// A branch is abandoned only when two human prompts share a parent and a later
// line continues the other one: broken chains are far more common than rewinds,
// and marking all that is off the last leaf's path dropped 16 % of requests.
func (c *conversation) branches() map[*line]*line {
	abandoned := c.abandonedPrompts()
	if len(abandoned) == 0 {
		return nil
	}
	of := map[*line]*line{}
	for _, l := range c.lines {
		switch {
		case abandoned[l]:
			of[l] = l
		case l.parent != nil && of[l.parent] != nil:
			of[l] = of[l.parent]
		}
	}
	return of
}

func (c *conversation) abandonedPrompts() map[*line]bool {
	siblings := map[*line][]*line{}
	for _, l := range c.lines {
		if l.parent != nil && l.humanPrompt() {
			siblings[l.parent] = append(siblings[l.parent], l)
		}
	}
	var last map[*line]int
	abandoned := map[*line]bool{}
	for _, prompts := range siblings {
		if len(prompts) < 2 {
			continue
		}
		if last == nil {
			last = c.lastDescendants()
		}
		living := prompts[0]
		for _, p := range prompts[1:] {
			if last[p] > last[living] && last[p] > p.seq {
				living = p
			}
		}
		for _, p := range prompts {
			if p != living && last[living] > p.seq {
				abandoned[p] = true
			}
		}
	}
	return abandoned
}

// lastDescendants gives for each line the order of the last line below it, its
// own where there is none.
func (c *conversation) lastDescendants() map[*line]int {
	last := make(map[*line]int, len(c.lines))
	for i := len(c.lines) - 1; i >= 0; i-- {
		l := c.lines[i]
		last[l] = max(last[l], l.seq)
		if p := l.parent; p != nil && p.seq < l.seq {
			last[p] = max(last[p], last[l])
		}
	}
	return last
}

// path walks from a line's parent towards the root until stop says that the
// line is already placed, and returns what it met, oldest first. rooted is true
// when it came to an end of the tree. Parents can form a cycle: a line met twice
// ends the walk.
func path(from *line, placed func(*line) bool) (lines []*line, rooted bool) {
	met := map[*line]bool{from: true}
	p := from.parent
	for p != nil && !placed(p) && !met[p] {
		met[p] = true
		lines = append(lines, p)
		p = p.parent
	}
	for i, j := 0, len(lines)-1; i < j; i, j = i+1, j-1 {
		lines[i], lines[j] = lines[j], lines[i]
	}
	return lines, p == nil
}
