package images

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func encoded(t testing.TB, format string, w, h int) string {
	t.Helper()
	img := image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{color.Black, color.White})
	var buf bytes.Buffer
	var err error
	switch format {
	case "png":
		err = png.Encode(&buf, img)
	case "gif":
		err = gif.Encode(&buf, img, nil)
	case "jpeg":
		err = jpeg.Encode(&buf, img, nil)
	}
	require.NoError(t, err)
	return base64.StdEncoding.EncodeToString(buf.Bytes())
}

func TestSizeOfRealEncoders(t *testing.T) {
	for _, format := range []string{"png", "gif", "jpeg"} {
		w, h, ok := Size(encoded(t, format, 37, 1021))
		require.True(t, ok, format)
		assert.Equal(t, []int{37, 1021}, []int{w, h}, format)
		_, _, ok = Size("data:image/" + format + ";base64," + encoded(t, format, 2, 3))
		assert.True(t, ok, format)
	}
}

// The WebP headers are laid out by hand from the container specification; the
// standard library has no encoder.
func TestSizeOfWebP(t *testing.T) {
	riff := func(chunk string, body ...byte) string {
		b := append([]byte("RIFF\x00\x00\x00\x00WEBP"+chunk+"\x0a\x00\x00\x00"), body...)
		return base64.StdEncoding.EncodeToString(append(b, make([]byte, 16)...))
	}
	cases := map[string]struct {
		data string
		w, h int
	}{
		// 3 bytes frame tag, start code, 14 bits each: 0x0140 = 320, 0x00f0 = 240, the top two bits are a scale.
		"lossy": {riff("VP8 ", 0, 0, 0, 0x9d, 0x01, 0x2a, 0x40, 0x41, 0xf0, 0x40), 320, 240},
		// width-1 = 319 = 0x13f, height-1 = 239: 0x13f | 239<<14 = 0x3bc13f.
		"lossless": {riff("VP8L", 0x2f, 0x3f, 0xc1, 0x3b, 0x00), 320, 240},
		// flags, 3 reserved, then 24 bits each: 0x00013f, 0x0100ef = 65775.
		"extended": {riff("VP8X", 0, 0, 0, 0, 0x3f, 0x01, 0x00, 0xef, 0x00, 0x01), 320, 65776},
	}
	for name, c := range cases {
		w, h, ok := Size(c.data)
		require.True(t, ok, name)
		assert.Equal(t, []int{c.w, c.h}, []int{w, h}, name)
	}
}

// Expected values are the providers' own examples or the arithmetic beside them.
func TestPrice(t *testing.T) {
	cases := []struct {
		model string
		w, h  float64
		want  int64
	}{
		{"claude-sonnet-4-5", 200, 200, 54},           // 40000/750 = 53.3
		{"anthropic/claude-opus-4", 1000, 1000, 1334}, // 1e6/750 = 1333.3
		{"claude-sonnet-4-5", 3136, 784, 820},         // halved to 1568x392 = 614656/750 = 819.5
		{"claude-sonnet-4-5", 4000, 4000, 1534},       // capped: 1.15e6/750 = 1533.3
		{"gpt-4o", 1024, 1024, 765},                   // guide: 4 tiles: 4*170+85
		{"gpt-4o", 2048, 4096, 1105},                  // guide: 6 tiles: 6*170+85
		{"gpt-4.1", 512, 512, 255},                    // 1 tile
		{"gpt-5", 1024, 1024, 630},                    // 4*140+70
		{"gpt-5.1-codex", 512, 512, 210},              // 140+70
		{"o3", 512, 512, 225},                         // 150+75
		{"gpt-4.1-mini", 1024, 1024, 1659},            // 1024 patches * 1.62 = 1658.9
		{"gpt-4.1-mini", 1800, 2400, 2352},            // guide: 1452 patches; * 1.62 = 2352.2
		{"gpt-5-mini", 2048, 768, 1843},               // 64*24 = 1536 * 1.2 = 1843.2
		{"gpt-5.3-codex", 1280, 720, 1104},            // 40*23 = 920 * 1.2
		{"gpt-5-nano", 256, 256, 96},                  // 64 * 1.5
		{"gemini-2.5-pro", 384, 384, 258},             // small
		{"google/gemini-2.5-pro", 960, 540, 1548},     // tile 360: 3*2 = 6 * 258
		{"unheard-of", 200, 200, 54},                  // the default is Anthropic's rule
	}
	for _, c := range cases {
		assert.Equal(t, c.want, price(c.model, c.w, c.h), "%s %vx%v", c.model, c.w, c.h)
	}
}

func TestKnown(t *testing.T) {
	assert.True(t, Known("anthropic/claude-sonnet-4"))
	assert.True(t, Known("gpt-5.2-codex"))
	assert.False(t, Known("MiniMax-M3"))
	assert.False(t, Known(""))
}

func TestTokensOfNoImage(t *testing.T) {
	for _, data := range []string{"", "data:", "data:image/png;base64,", "https://example.com/a.png", "aGVsbG8gd29ybGQ=", "!!!!"} {
		_, ok := Tokens("claude-sonnet-4-5", data)
		assert.False(t, ok, data)
	}
}

func TestPriceIsPositiveAndBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := float64(rapid.IntRange(1, 1<<16).Draw(t, "w"))
		h := float64(rapid.IntRange(1, 1<<16).Draw(t, "h"))
		assert.LessOrEqual(t, price("claude-x", w, h), int64(1534))
		assert.LessOrEqual(t, price("gpt-5-mini", w, h), int64(1844))
		for _, model := range []string{"claude-x", "gpt-5-mini", "gpt-4o", "gemini-2", ""} {
			assert.Positive(t, price(model, w, h), model)
		}
	})
}

func FuzzTokens(f *testing.F) {
	f.Add("gpt-4o", encoded(f, "png", 3, 4))
	f.Add("claude", encoded(f, "jpeg", 3, 4))
	f.Add("gemini", "data:image/webp;base64,UklGRgAAAABXRUJQVlA4IA==")
	f.Fuzz(func(t *testing.T, model, data string) {
		if n, ok := Tokens(model, data); ok && n <= 0 {
			t.Fatalf("%d tokens", n)
		}
	})
}
