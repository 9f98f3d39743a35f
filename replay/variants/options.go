package variants

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fclog/fclog/internal/nearest"
	"github.com/fclog/fclog/replay"
)

// checked makes a variant safe to call with any values: missing ones take their
// default, and wrong ones end in a plan that says so.
func checked(v replay.Variant) replay.Variant {
	plan := v.Plan
	v.Plan = func(view replay.View, given replay.Values) replay.Plan {
		values, err := settle(v, given)
		if err != nil {
			return replay.Plan{Unsupported: err.Error()}
		}
		return plan(view, values)
	}
	return v
}

// settle fills in the defaults of a variant and checks every value.
func settle(v replay.Variant, given replay.Values) (replay.Values, error) {
	values := replay.Values{}
	for _, o := range v.Options {
		values[o.Name] = o.Default
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if _, ok := values[name]; !ok {
			return nil, unknownOption(v, name)
		}
		values[name] = given[name]
	}
	for _, o := range v.Options {
		if o.Check == nil {
			continue
		}
		if err := o.Check(values[o.Name]); err != nil {
			return nil, fmt.Errorf("variant %s: option %s: %w", v.Name, o.Name, err)
		}
	}
	return values, nil
}

func unknownOption(v replay.Variant, name string) error {
	if len(v.Options) == 0 {
		return fmt.Errorf("variant %s has no options, got %q", v.Name, name)
	}
	var names []string
	for _, o := range v.Options {
		names = append(names, o.Name)
	}
	return fmt.Errorf("variant %s has no option %q; it takes %s%s", v.Name, name, strings.Join(names, ", "), nearest.Hint(name, names))
}

// whole is an option that takes a whole number of at least low.
func whole(name string, def, low int, doc string) replay.Option {
	check := func(value string) error {
		if n, err := strconv.Atoi(value); err != nil || n < low {
			return fmt.Errorf("want a whole number, %d or more, got %q", low, value)
		}
		return nil
	}
	return replay.Option{Name: name, Default: strconv.Itoa(def), Doc: doc, Check: check}
}

// upTo gives an option that takes a whole number a highest one.
func upTo(o replay.Option, high int) replay.Option {
	check := o.Check
	o.Check = func(value string) error {
		err := check(value)
		if n, wrong := strconv.Atoi(value); err == nil && (wrong != nil || n > high) {
			err = fmt.Errorf("want a whole number, %d or less, got %q", high, value)
		}
		return err
	}
	return o
}

// share is an option that takes a number from 0 to 1.
func share(name, def, doc string) replay.Option {
	check := func(value string) error {
		if x, err := strconv.ParseFloat(value, 64); err != nil || !(x >= 0 && x <= 1) {
			return fmt.Errorf("want a number from 0 to 1, got %q", value)
		}
		return nil
	}
	return replay.Option{Name: name, Default: def, Doc: doc, Check: check}
}

// choice is an option that takes one of the allowed words; the first is the default.
func choice(name, doc string, allowed ...string) replay.Option {
	check := func(value string) error {
		if !slices.Contains(allowed, value) {
			return fmt.Errorf("want one of %s, got %q", strings.Join(allowed, ", "), value)
		}
		return nil
	}
	return replay.Option{Name: name, Default: allowed[0], Doc: doc, Check: check}
}

// duration is an option that takes a time such as 10s, more than 0.
func duration(name, def, doc string) replay.Option {
	check := func(value string) error {
		if d, err := time.ParseDuration(value); err != nil || d <= 0 {
			return fmt.Errorf("want a time such as 500ms or 10s, got %q", value)
		}
		return nil
	}
	return replay.Option{Name: name, Default: def, Doc: doc, Check: check}
}

// number reads a value that was checked as a whole number.
func number(values replay.Values, name string) int {
	n, _ := strconv.Atoi(values[name])
	return n
}
