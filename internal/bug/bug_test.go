package bug

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const private = "a line of somebody's log"

func caught(f func()) (p *Panic) {
	defer func() { p = Of(recover()) }()
	f()
	return nil
}

func TestPanicsHoldNoValues(t *testing.T) {
	var list []string
	for name, f := range map[string]func(){
		"panic with a value of type string":                     func() { panic(private) },
		"panic with a value of type *errors.errorString":        func() { panic(errors.New(private)) },
		"index out of range [3] with length 0":                  func() { _ = list[len(private)/8] },
		"interface conversion: interface {} is string, not int": func() { _ = any(private).(int) },
	} {
		p := caught(f)
		assert.Equal(t, name, p.What)
		assert.NotContains(t, fmt.Sprint(p.Error(), p.Frames, p.All), private)
		require.NotEmpty(t, p.Frames)
		assert.Contains(t, p.Frames[0], "internal/bug.TestPanicsHoldNoValues.func", "innermost first")
		assert.Contains(t, p.Frames[0], "(bug_test.go:")
		assert.Greater(t, len(p.All), len(p.Frames), "All has those of the testing package, too")
		assert.Contains(t, p.Error(), Where)
	}
}

func TestCarrier(t *testing.T) {
	var c Carrier
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			c.Do(func() {
				if i == 2 {
					panic(private)
				}
			})
		})
	}
	wg.Wait()
	p := caught(c.Drop)
	assert.Equal(t, "panic with a value of type string", p.What)
	assert.Contains(t, p.Frames[0], "TestCarrier", "where it happened, not where it was dropped")
	(&Carrier{}).Drop()
}
