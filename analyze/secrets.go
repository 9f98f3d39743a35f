package analyze

import (
	"fmt"

	"github.com/fclog/fclog/internal/redact"
)

// withoutSecrets takes keys and passwords out of the commands, paths and arguments
// that an audit names: a report is passed on, and what a call was can be told
// without them. Datasets keep what they were imported with.
func (a *Audit) withoutSecrets() error {
	var names []*string
	for _, x := range a.TopItems {
		names = append(names, x.What)
	}
	for _, x := range a.RepeatedCalls {
		names = append(names, x.Args)
	}
	return cleaned(names)
}

// withoutSecrets does the same for what the pictures name.
func (c *Charts) withoutSecrets() error {
	var names []*string
	for _, x := range c.Items {
		names = append(names, x.What)
	}
	for _, x := range c.Lifetimes {
		names = append(names, x.What)
	}
	return cleaned(names)
}

func cleaned(names []*string) error {
	if err := redact.Each(names); err != nil {
		return fmt.Errorf("taking secrets out of names: %w", err)
	}
	return nil
}
