package dataset

import (
	"fmt"
	"io/fs"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// 5,000 estimates in two months, written by 7 and by 50, some twice, merge to
// the same files: 4,000 in one, 1,000 in another; with 200 more in the first, 4,096 and 104.
func TestMergedEstimatesDependOnThemAlone(t *testing.T) {
	var first, second []Estimate
	for i := range 5200 {
		e := Estimate{Part: fmt.Sprintf("%04d", i*7%1000), SessionID: fmt.Sprint("s", i/1000), Variant: "v", Options: "[]", Rules: "1", Prices: "p", EditedItems: int64(i)}
		if i < 1000 {
			second = append(second, e)
			continue
		}
		first = append(first, e)
	}
	written := func(pieces int, first []Estimate) map[string][]byte {
		dir := t.TempDir()
		_, err := Import(t.Context(), dir, nil, Options{})
		require.NoError(t, err)
		for month, rows := range map[string][]Estimate{"2026-01": first, "2026-02": second} {
			for _, n := range rand.Perm(pieces) {
				from, to := n*len(rows)/pieces, (n+1)*len(rows)/pieces
				require.NoError(t, WriteEstimates(dir, "test", month, rows[max(0, from-n%3):to]))
			}
		}
		require.NoError(t, Compact(t.Context(), dir))
		return estimateFiles(t, dir)
	}
	few := written(7, first[:4000])
	assert.Equal(t, few, written(50, first[:4000]))
	assert.Equal(t, []int{1000, 4000}, rowsOf(t, few))
	more := written(3, first)
	assert.Equal(t, []int{104, 1000, 4096}, rowsOf(t, more))
}

func estimateFiles(t *testing.T, dir string) map[string][]byte {
	out := map[string][]byte{}
	root := os.DirFS(filepath.Join(dir, EstimatesTable))
	paths, err := fs.Glob(root, "source=*/month=*/*")
	require.NoError(t, err)
	for _, p := range paths {
		out[p], err = fs.ReadFile(root, p)
		require.NoError(t, err)
	}
	return out
}

func rowsOf(t *testing.T, files map[string][]byte) (sizes []int) {
	for name, raw := range files {
		path := filepath.Join(t.TempDir(), "x.parquet")
		require.NoError(t, os.WriteFile(path, raw, 0o600))
		rows, err := parquet.ReadFile[Estimate](path)
		require.NoError(t, err, name)
		sizes = append(sizes, len(rows))
	}
	slices.Sort(sizes)
	return sizes
}
