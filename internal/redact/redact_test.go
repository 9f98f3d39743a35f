package redact

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	digits  = "0123456789"
	letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// alphabets of what stands between braces in the examples of the rules.
var alphabets = map[string]string{
	"a": letters + digits, "A": "ABCDEFGHIJKLMNOPQRSTUVWXYZ" + digits, "T": "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
	"h": "0123456789abcdef", "b": letters + digits + "_-", "d": digits,
}

var holes = regexp.MustCompile(`\{([aAThbd])(\d+)\}`)

// filled puts random characters into an example, with a digit and a letter where
// the alphabet has both, and returns what it put there.
func filled(r *rand.Rand, example string) (text string, secrets []string) {
	text = holes.ReplaceAllStringFunc(example, func(hole string) string {
		m := holes.FindStringSubmatch(hole)
		n, _ := strconv.Atoi(m[2])
		b := make([]byte, n)
		for i := range b {
			b[i] = alphabets[m[1]][r.Intn(len(alphabets[m[1]]))]
		}
		if m[1] != "d" && m[1] != "T" {
			b[n/2] = digits[r.Intn(10)]
			b[0] = alphabets[m[1]][10]
		}
		secrets = append(secrets, string(b))
		return string(b)
	})
	return text, secrets
}

func redactor(t testing.TB) *Redactor {
	t.Helper()
	r, err := New()
	require.NoError(t, err)
	return r
}

// longest is the part of an example that must not be seen again.
func longest(list []string) string {
	out := ""
	for _, s := range list {
		if len(s) > len(out) {
			out = s
		}
	}
	return out
}

func TestRulesFindTheirExamples(t *testing.T) {
	set, err := loaded()
	require.NoError(t, err)
	random := rand.New(rand.NewSource(1))
	for _, rule := range set.Rules {
		require.NotEmpty(t, rule.Examples, rule.ID)
		for _, example := range rule.Examples {
			for n := range 20 {
				text, secrets := filled(random, example)
				out := redactor(t).Text("before " + text + "\nafter")
				assert.NotContains(t, out, longest(secrets), "%s: example %d of %q", rule.ID, n, example)
				assert.Contains(t, out, "[redacted:", "%s: %q", rule.ID, example)
				assert.True(t, strings.HasPrefix(out, "before ") && strings.HasSuffix(out, "after"), out)
			}
		}
	}
}

// TestSecretsInEscapes: keys that stand in JSON, in JSON inside of JSON, written with
// \u, or cut over two lines by a shell, and that the JSON stays JSON.
func TestSecretsInEscapes(t *testing.T) {
	key := "ghp_" + strings.Repeat("a1B2c3D4e5", 3) + "f6G7h8"
	pem := "-----BEGIN PRIVATE KEY-----\n" + strings.Repeat("Qm9vVHJlZTEyMzQ1Njc4OUFCQ0RFRkdISUpLTE1OT1BRUlNUVVZX\n", 3) + "-----END PRIVATE KEY-----\n"
	once := func(v any) string {
		raw, err := json.Marshal(v)
		require.NoError(t, err)
		return string(raw)
	}
	for name, c := range map[string]struct{ text, secret string }{
		"json":             {once(map[string]string{"command": "export A=1\nexport X=" + key}), key},
		"json in json":     {once(map[string]string{"a": once(map[string]string{"b": once("line\nDB_PASSWORD=tr0ub4dor9x\n")})}), "tr0ub4dor9x"},
		"unicode escapes":  {`{"key":"ghp_a1B2c3D4e5\u00611B2c3D4e5a1B2c3D4e5f6G7h8"}`, "c3D4e5"},
		"half in escapes":  {`{"key":"\u0067hp_a1B2c3D4e5a1B2c3D4e5a1B2c3D4e5f6G7h8"}`, "a1B2c3"},
		"escaped slash":    {`{"url":"postgres:\/\/app:s3cr3tpassw0rdX@db.internal\/x"}`, "s3cr3tpassw0rdX"},
		"shell line":       {"curl -H 'Authorization: Bearer abcDEF123ghi\\\nJKL456mno789pqr' https://x", "JKL456"},
		"key in arguments": {once(map[string]string{"content": pem}), "Qm9vVHJlZTEy"},
		"numbered key":     {"     1\t" + strings.ReplaceAll(pem, "\n", "\n     2\t"), "Qm9vVHJlZTEy"},
		"key in source":    {`k := "` + strings.ReplaceAll(pem, "\n", "\\n\" +\n\t\"") + `"`, "Qm9vVHJlZTEy"},
	} {
		out := redactor(t).Text(c.text)
		assert.NotContains(t, out, c.secret, name)
		assert.Contains(t, out, "[redacted:", name)
		if json.Valid([]byte(c.text)) {
			assert.True(t, json.Valid([]byte(out)), "%s: %s", name, out)
		}
	}
}

func TestSameSecretSamePlaceholder(t *testing.T) {
	r := redactor(t)
	one, two := "Zk3"+strings.Repeat("x9Y8w7", 5), "Qm4"+strings.Repeat("v6U5t4", 5)
	texts := []string{"it printed " + one, "API_TOKEN=" + one, "OTHER_TOKEN=" + two, "cat: " + two + " " + one}
	for _, text := range texts {
		r.Learn(text)
	}
	const first, second = "[redacted:env-secret:1]", "[redacted:env-secret:2]"
	assert.Equal(t, "it printed "+first, r.Text(texts[0]), "known only from the next text")
	assert.Equal(t, "API_TOKEN="+first, r.Text(texts[1]))
	assert.Equal(t, "OTHER_TOKEN="+second, r.Text(texts[2]))
	assert.Equal(t, "cat: "+second+" "+first, r.Text(texts[3]))
	assert.Equal(t, int64(5), r.Replaced)
	again := r.Text(r.Text(texts[3]))
	assert.Equal(t, r.Text(texts[3]), again, "redacting twice is redacting once")
}

// TestTextIsNotRuined: what looks random or speaks of secrets without holding any.
func TestTextIsNotRuined(t *testing.T) {
	image := strings.Repeat("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg", 20)
	for _, text := range []string{
		"commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
		"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		"token_id: 123e4567-e89b-12d3-a456-426614174000",
		`"integrity": "sha512-9NET910DNaIPngYnLLPeg+Ogzqsi9uM4mSboU5y6p8S5DzMTVEsJZrawi+BoDNUVBa2DhJqQYUFvMDfgU062LQ=="`,
		"data:image/png;base64," + image,
		"Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor.",
		"token := parser.NextToken(); if token == nil { return errSecret }",
		"const password = process.env.DB_PASSWORD;",
		"password: z.string().min(8).max(128),",
		"PASSWORD=$(cat /run/secrets/db) TOKEN=${GITHUB_TOKEN} KEY=$1",
		"MAX_TOKENS=128000 TOKEN_LIMIT=200000 TOKENIZER=o200k_base",
		"export API_KEY=your-api-key-here",
		"OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
		"PRIVATE_KEY_FILE=/etc/ssl/private/key.pem",
		"Authorization: Bearer <token>",
		"Authorization: Bearer $TOKEN",
		"https://example.org:8080/path@version?a=b:c@d",
		"git@github.com:owner/repository.git and ssh://git@host:22/x",
		"https://user:password@example.com/",
		`strings.Contains(s, "-----BEGIN RSA PRIVATE KEY-----") && strings.Contains(s, "-----END RSA PRIVATE KEY-----")`,
		"AKIAIOSFODNN7EXAMPLE is the key of the manual",
		"secret = \"correct horse battery staple\"",
		"sk-learn, task-list-item-with-a-very-long-class-name-indeed-so-it-is",
		`"token": "identifier", "password": "string"`,
		"npm_config_registry npm_package_version hf_hub_download",
		`call_0123456789abcdef01234567 toolu_01A09q90qw90lq917835lq9 msg_01XFDUDYJgAACzvnptvVoYEL`,
		"SECRET_NAME=my-app-secret TOKEN_URL=https://example.org/oauth2/token",
		"🤦🏼‍♂️ \x00 \u202e \xff",
		"",
	} {
		assert.Equal(t, text, redactor(t).Text(text))
	}
}

func TestUnescapeMapsBack(t *testing.T) {
	text := `a\n\u00e9\\n\q\`
	out, offsets, changed := unescape(text)
	assert.True(t, changed)
	assert.Equal(t, "a\né\\n\\q\\", out)
	// a 0, line break 1, é (two bytes) 3, backslash 9, n 11, backslash 12, q 13, backslash 14, end 15
	assert.Equal(t, []int32{0, 1, 3, 3, 9, 11, 12, 13, 14, 15}, offsets)
}

func FuzzText(f *testing.F) {
	random := rand.New(rand.NewSource(2))
	set, err := loaded()
	require.NoError(f, err)
	for _, rule := range set.Rules {
		text, _ := filled(random, rule.Examples[0])
		f.Add(text)
		f.Add(fmt.Sprintf("%q", text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := redactor(t)
		r.Learn(text)
		out := r.Text(text)
		if r.Replaced == 0 {
			assert.Equal(t, text, out)
		}
	})
}
