package freecode

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// FreeCode's own limits for the copy of a result that the model sees, in UTF-16
// code units as JavaScript counts them.
const (
	maxModelOutput = 30_000 // MAX_MODEL_OUTPUT_CHARS
	cutHead        = 24_000 // kept from the start, back to a line break
	cutTail        = 6_000  // kept from the end, on to a line break
	resultBudget   = 200_000
)

// displayCut opens a display copy that lost its head: only the last 500 000
// characters of the output were logged.
const displayCut = "[showing last 500000 chars; full output available via the output tool]"

// units is the length of s as JavaScript counts it: UTF-16 code units.
func units(s string) int64 {
	n := int64(0)
	for _, r := range s {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}

// cut shortens a full output as FreeCode does for the model. The marker between
// head and tail names the call under which the output tool pages the rest.
func cut(full, callID string) string {
	head, tail, total := split(full)
	if total <= maxModelOutput {
		return full
	}
	return head + cutMarker(total, callID) + tail
}

// cutMarker is the text between the two kept ends.
func cutMarker(total int, callID string) string {
	return fmt.Sprintf("\n\n... [truncated %d chars total — use the `output` tool with id=\"%s\" (offset, limit, or pattern) to read the omitted middle] ...\n\n", total, callID)
}

// split gives the two ends a cut keeps and the length of the whole.
func split(full string) (head, tail string, total int) {
	if len(full) <= maxModelOutput || int(units(full)) <= maxModelOutput {
		return full, "", min(len(full), int(units(full)))
	}
	u := utf16.Encode([]rune(full))
	end := cutHead
	for i := cutHead; i >= 0; i-- {
		if u[i] == '\n' {
			end = i
			break
		}
	}
	start := len(u) - cutTail
	if i := slices.Index(u[start:], '\n'); i >= 0 {
		start += i + 1
	}
	return string(utf16.Decode(u[:end])), string(utf16.Decode(u[start:])), len(u)
}

// cutCallID reads the call ID out of a result that was cut from full: the log of
// older builds has it nowhere else.
func cutCallID(result, full string) string {
	head, _, total := split(full)
	if total <= maxModelOutput {
		return ""
	}
	before, _, _ := strings.Cut(cutMarker(total, "\x00"), "\x00")
	rest, ok := strings.CutPrefix(result, head+before)
	if !ok {
		return ""
	}
	id, _, ok := strings.Cut(rest, `"`)
	if !ok || len(id) > 200 || !utf8.ValidString(id) {
		return ""
	}
	return id
}

// prunedMarker stands in a request for a result that history pruning left out.
func prunedMarker(size int64, id string) string {
	return fmt.Sprintf("[tool result omitted to save context — %d chars. Retrieve with the `output` tool (id=\"%s\"), or re-run the tool.]", size, id)
}
