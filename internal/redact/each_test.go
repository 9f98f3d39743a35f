package redact

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEach(t *testing.T) {
	key := "ghp_" + "a1B2c3D4e5a1B2c3D4e5a1B2c3D4e5f6G7h8"
	bare, known, plain := "deploy Zk3x9Y8w7x9Y8w7x9Y8w7x9Y8w7", "API_TOKEN=Zk3x9Y8w7x9Y8w7x9Y8w7x9Y8w7 make", "go test ./... -run '^TestToken$' -count 1"
	path := "/src/" + key + "/a.go"
	require.NoError(t, Each([]*string{&bare, nil, &known, &plain, &path}))
	assert.Equal(t, "deploy [redacted:env-secret:1]", bare, "known only from the next one")
	assert.Equal(t, "API_TOKEN=[redacted:env-secret:1] make", known)
	assert.Equal(t, "go test ./... -run '^TestToken$' -count 1", plain)
	assert.Equal(t, "/src/[redacted:github-token:1]/a.go", path)
	require.NoError(t, Each(nil))
}
