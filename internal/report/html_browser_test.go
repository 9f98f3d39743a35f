package report_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fclog/fclog/internal/page/browsertest"
)

func TestShots(t *testing.T) {
	files := os.Getenv("FCLOG_PAGES")
	if files == "" {
		t.Skip()
	}
	list, err := filepath.Glob(files)
	require.NoError(t, err)
	b := browsertest.Open(t)
	for _, f := range list {
		name := filepath.Base(f)
		for _, w := range []int{375, 1440} {
			for _, dark := range []bool{false, true} {
				b.Screen(w, 900, dark)
				b.Load(f)
				n := name + map[int]string{375: "-375", 1440: "-1440"}[w]
				if dark {
					n += "-dark"
				}
				b.Shoot(n)
				t.Log(n, b.Console(), b.Requests(), b.Eval("document.documentElement.scrollWidth"))
			}
		}
	}
}
