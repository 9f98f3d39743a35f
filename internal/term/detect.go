package term

import (
	"io"
	"os"
	"strconv"
	"strings"

	xterm "golang.org/x/term"
)

// DefaultWidth is used where no terminal tells its width.
const DefaultWidth = 80

// IsTerminal tells whether v, a reader or writer, is a terminal.
func IsTerminal(v any) bool {
	f, ok := v.(*os.File)
	return ok && xterm.IsTerminal(int(f.Fd()))
}

// HasColor tells whether output to w may be coloured: only on a terminal that
// is not dumb, and not with NO_COLOR (no-color.org).
func HasColor(w io.Writer, getenv func(string) string) bool {
	return getenv("NO_COLOR") == "" && getenv("TERM") != "dumb" && IsTerminal(w)
}

// WidthOf is the number of columns of the terminal behind w, else COLUMNS, else
// DefaultWidth.
func WidthOf(w io.Writer, getenv func(string) string) int {
	if f, ok := w.(*os.File); ok {
		if width, _, err := xterm.GetSize(int(f.Fd())); err == nil && width > 0 {
			return width
		}
	}
	if n, err := strconv.Atoi(getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	return DefaultWidth
}

// DefaultHeight is used where no terminal tells its height.
const DefaultHeight = 24

// HeightOf is the number of lines of the terminal behind w, else DefaultHeight.
func HeightOf(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if _, height, err := xterm.GetSize(int(f.Fd())); err == nil && height > 0 {
			return height
		}
	}
	return DefaultHeight
}

// IsUTF8 tells whether the locale shows UTF-8. Without any locale it does, as
// terminals and containers are today; only a locale that names something else
// says no.
func IsUTF8(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(getenv(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return true
}
