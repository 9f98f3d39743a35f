package compress

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAsksNumbers(t *testing.T) {
	for command, want := range map[string]bool{
		"nl -ba main.go | sed -n '1,80p'":         true,
		"cd src && nl main.go":                    true,
		"bash -lc 'nl -ba main.go | head -50'":    true,
		"sudo cat -n /etc/hosts":                  true,
		"cat -An x":                               true,
		"cat --number x":                          true,
		"cat a.go b.go":                           false,
		"cat nl":                                  false,
		"echo nl -ba":                             false,
		"grep -rn open .":                         true,
		"rg --line-number open":                   true,
		"grep -r open .":                          false,
		"git -C x grep -n open":                   true,
		"git log -n 5":                            false,
		"head -n 20 x":                            false,
		"sed -n '1,20p' x":                        false,
		"sed = x":                                 true,
		"sed -n '/open/=' x":                      true,
		"sed 's/a=b/c=d/' x":                      false,
		"awk '{printf \"%d\\t%s\\n\", NR, $0}' x": true,
		"awk 'NR>=10 && NR<=20' x":                false,
		"perl -ne 'print \"$.: $_\"' x":           true,
		"python3 - <<'PY'\nfor n, l in enumerate(f): p(n)\nPY": true,
		"find . -name '*.go' -exec cat -n {} ;":                true,
		"ls | xargs nl":                                        true,
		"Get-Content a.ts | Select-Object -First 5":            false,
		"Select-String -Path a.ts -Pattern open":               true,
		"$i=0; Get-Content a.ts | % { $i++; \"$i $_\" }":       true,
		"nl -ba 'unclosed":                                     true,
		"cat 'unclosed":                                        false,
		"":                                                     false,
		"for f in a b; do nl -ba $f; done":                     true,
	} {
		assert.Equal(t, want, AsksNumbers(command), command)
	}
}
