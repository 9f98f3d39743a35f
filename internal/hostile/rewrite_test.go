package hostile

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
)

func TestRewrite(t *testing.T) {
	var keys []string
	change := func(key string, value jsontext.Value) jsontext.Value {
		keys = append(keys, key)
		if value.Kind() == '0' {
			return jsontext.Value("1e308")
		}
		return value
	}
	const log = `{"b":1,"a":[2,{"c":"x","d":null}],"e":{}}` + "\nno JSON\n" + `{"f":3}` + "\n"
	const want = `{"b":1e308,"a":[1e308,{"c":"x","d":null}],"e":{}}` + "\nno JSON\n" + `{"f":1e308}` + "\n"
	assert.Equal(t, want, string(Rewrite([]byte(log), change)))
	assert.Equal(t, []string{"b", "a", "c", "f"}, keys)
	assert.Equal(t, "[\"x\"]\n", string(Rewrite([]byte("[\n \"x\"\n]"), change)), "one value over many lines")
}

// TestTexts: nothing stands twice, and nothing is read as a remark.
func TestTexts(t *testing.T) {
	seen := map[string]bool{}
	for _, text := range Texts() {
		assert.False(t, seen[text], "%.40q", text)
		seen[text] = true
	}
	assert.Less(t, len(Short()), len(Texts()))
}
