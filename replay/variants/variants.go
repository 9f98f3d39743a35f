package variants

import (
	"fmt"
	"strings"

	"github.com/fclog/fclog/internal/nearest"
	"github.com/fclog/fclog/replay"
)

// All lists the variants in the order of the help text.
func All() []replay.Variant {
	return []replay.Variant{
		Compress(),
		NoLineNumbers(),
		Prompt(),
		InlineBatching(),
		BatchReads(),
		Serialize(),
		DedupReads(),
		Cap(),
		Mask(),
		ClearToolResults(),
		CompactAt(),
		TailReminders(),
		DropUnusedTools(),
		Exec(),
	}
}

// Find returns the variant with a name.
func Find(name string) (replay.Variant, bool) {
	for _, v := range All() {
		if v.Name == name {
			return v, true
		}
	}
	return replay.Variant{}, false
}

// Parse reads what a user asks for: names of variants, joined by + and each with
// options behind a colon, as in "compress:head=40,tail=60+mask:keep=5". A value
// that holds one of , + : or quotes stands in single or double quotes.
func Parse(spec string) (replay.Use, error) { return ParseWith(nil, spec) }

// ParseWith is Parse that knows own variants, too.
func ParseWith(own []Own, spec string) (replay.Use, error) {
	var use replay.Use
	var names []string
	parts, err := split(spec, '+')
	if err != nil {
		return use, err
	}
	for _, part := range parts {
		steps, name, err := parseStep(own, strings.TrimSpace(part))
		if err != nil {
			return use, err
		}
		use.Steps = append(use.Steps, steps...)
		names = append(names, name)
	}
	use.Name = strings.Join(names, "+")
	return use, nil
}

// parseStep reads one variant with its options; its name keeps the options given,
// so that two uses of one variant stay apart.
func parseStep(own []Own, part string) ([]replay.Step, string, error) {
	name, settings, hasSettings := strings.Cut(part, ":")
	name = strings.TrimSpace(name)
	for _, o := range own {
		if o.Name != name {
			continue
		}
		if hasSettings {
			return nil, "", fmt.Errorf("variant %s: own variants take no options on the command line", name)
		}
		return o.Steps, name, nil
	}
	v, ok := Find(name)
	if !ok {
		return nil, "", unknownVariant(own, name)
	}
	given, err := parseValues(v, settings, hasSettings)
	if err != nil {
		return nil, "", err
	}
	values, err := settle(v, given)
	if err != nil {
		return nil, "", err
	}
	return []replay.Step{{Variant: v, Values: values}}, part, nil
}

func unknownVariant(own []Own, name string) error {
	var names []string
	for _, v := range All() {
		names = append(names, v.Name)
	}
	for _, o := range own {
		names = append(names, o.Name)
	}
	if name == "" {
		return fmt.Errorf("a variant has no name; there are %s", strings.Join(names, ", "))
	}
	return fmt.Errorf("unknown variant %q%s; there are %s", name, nearest.Hint(name, names), strings.Join(names, ", "))
}

func parseValues(v replay.Variant, settings string, given bool) (replay.Values, error) {
	if !given {
		return nil, nil
	}
	parts, err := split(settings, ',')
	if err != nil {
		return nil, fmt.Errorf("variant %s: %w", v.Name, err)
	}
	values := replay.Values{}
	for _, part := range parts {
		key, value, ok := strings.Cut(part, "=")
		key = strings.TrimSpace(key)
		if !ok {
			return nil, fmt.Errorf("variant %s: %q is no setting; write option=value, with quotes around a value that holds , or +", v.Name, strings.TrimSpace(part))
		}
		if _, twice := values[key]; twice {
			return nil, fmt.Errorf("variant %s: option %s is given twice", v.Name, key)
		}
		values[key] = unquote(strings.TrimSpace(value))
	}
	return values, nil
}

// split cuts a text at a separator outside of quotes.
func split(text string, sep byte) ([]string, error) {
	var out []string
	start, quote := 0, byte(0)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case (c == '"' || c == '\'') && opensValue(text[:i]):
			quote = c
		case c == sep:
			out = append(out, text[start:i])
			start = i + 1
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("no closing %c in %s", quote, text)
	}
	return append(out, text[start:]), nil
}

// opensValue says whether a quote behind this text begins a value: elsewhere it is
// a character like any other.
func opensValue(before string) bool {
	return strings.HasSuffix(strings.TrimRight(before, " "), "=")
}

func unquote(value string) string {
	if len(value) >= 2 && (value[0] == '"' || value[0] == '\'') && value[len(value)-1] == value[0] {
		return value[1 : len(value)-1]
	}
	return value
}
