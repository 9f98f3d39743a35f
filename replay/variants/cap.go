package variants

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fclog/fclog/replay"
	"github.com/fclog/fclog/rollout"
)

// markerRoom is how far a result that its harness has cut already may exceed the
// cap: the place its marker takes. Cutting it again would only trade markers.
const markerRoom = 400

// Cap is the uniform cut of long tool results.
func Cap() replay.Variant {
	return checked(replay.Variant{
		Name:  "cap",
		Title: "cut every tool result to a head and a tail",
		Doc: "A result longer than max characters keeps its first and its last lines; a marker in between says how much was left out. " +
			"The cut is made before the result is first sent, so the prompt cache holds. It knows nothing of the content: what it cuts may be what was needed. " +
			"Where the agent had cut the result itself and the log keeps the whole, head and tail are those of the whole.",
		Options: []replay.Option{
			whole("max", 30000, 1, "characters of a result that are kept"),
			share("head", "0.8", "share of them taken from the start"),
			classOption(),
		},
		Needs: []string{"text of tool results"},
		Plan:  planCap,
	})
}

func planCap(v replay.View, values replay.Values) replay.Plan {
	if why := noResults(v.Session); why != "" {
		return replay.Plan{Unsupported: why}
	}
	limit := number(values, "max")
	headShare, _ := strconv.ParseFloat(values["head"], 64)
	only := selector{class: rollout.ToolClass(values["class"])}
	return replay.Plan{Edits: rewriteResults(v, false, func(r result, text string) (rewrite, bool) {
		room := 0
		if r.call >= 0 && v.Session.Calls[r.call].Truncated != rollout.NotTruncated || alreadyCut.MatchString(text) {
			room = markerRoom
		}
		if !only.takes(v.Session, r) || len(text) <= limit+room || utf8.RuneCountInString(text) <= limit+room {
			return rewrite{}, false
		}
		whole, _ := wholeOf(v, r, text)
		return rewrite{text: headAndTail(whole, limit, headShare), lossy: true, why: "middle"}, true
	})}
}

// headAndTail keeps whole lines from both ends of a text that is longer than limit
// characters; where there is no line end it cuts inside the line.
func headAndTail(text string, limit int, headShare float64) string {
	chars := utf8.RuneCountInString(text)
	first := int(float64(limit) * headShare)
	head := text[:byteAt(text, first)]
	tail := text[byteAt(text, chars-(limit-first)):]
	if end := strings.LastIndexByte(head, '\n'); end >= 0 {
		head = head[:end]
	}
	if _, rest, ok := strings.Cut(tail, "\n"); ok {
		tail = rest
	}
	left := chars - utf8.RuneCountInString(head) - utf8.RuneCountInString(tail)
	return fmt.Sprintf("%s\n\n... [%d of %d characters left out] ...\n\n%s", head, left, chars, tail)
}

// byteAt is the byte offset of the character with the given number.
func byteAt(text string, char int) int {
	for i := range text {
		if char == 0 {
			return i
		}
		char--
	}
	return len(text)
}
