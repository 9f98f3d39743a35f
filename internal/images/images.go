// Package images prices an image in tokens. Providers bill an image by its size
// in pixels, never by its base64 text, so only the header of the file is read.
package images

import (
	"encoding/base64"
	"math"
	"strings"
)

// DefaultTokens is the price of an image whose pixels cannot be seen (a link, an
// unknown file type): Codex assumes 7,373 bytes at 4 bytes a token
// (codex-rs/core, RESIZED_IMAGE_BYTES_ESTIMATE), rounded up as Codex does.
const DefaultTokens = (7373 + 3) / 4

// headerBytes is how much of a file is decoded. JPEG carries its size behind
// metadata segments (Exif thumbnails, colour profiles) of up to 64 KB each.
const headerBytes = 1 << 18

// Tokens returns what a provider bills for the image in base64Data, with or
// without a "data:…;base64," prefix, at the detail the agents ask for (high or
// automatic). ok is false when the data is no image of a known type.
func Tokens(model, base64Data string) (tokens int64, ok bool) {
	width, height, ok := Size(base64Data)
	if !ok {
		return 0, false
	}
	return price(model, float64(width), float64(height)), true
}

// Size returns the pixels of the image in base64Data, read from its header.
func Size(base64Data string) (width, height int, ok bool) {
	head := decodeHead(base64Data)
	for _, parse := range []func([]byte) (int, int, bool){pngSize, gifSize, webpSize, jpegSize} {
		if w, h, ok := parse(head); ok && w > 0 && h > 0 {
			return w, h, true
		}
	}
	return 0, 0, false
}

// decodeHead decodes the beginning of the data and keeps what came out before
// any fault: a cut image still has its header.
func decodeHead(data string) []byte {
	if strings.HasPrefix(data, "data:") {
		comma := strings.IndexByte(data, ',')
		if comma < 0 {
			return nil
		}
		data = data[comma+1:]
	}
	data = data[:min(len(data), headerBytes)]
	data = strings.NewReplacer("\n", "", "\r", "", " ", "", "-", "+", "_", "/").Replace(data)
	data = strings.TrimRight(data, "=")
	head := make([]byte, base64.RawStdEncoding.DecodedLen(len(data)))
	n, _ := base64.RawStdEncoding.Decode(head, []byte(data))
	return head[:n]
}

// Known says whether the model's provider has a published rule; the price of an
// image is a guess for all other models.
func Known(model string) bool {
	return ruleOf(model) != nil
}

// price applies the rule of the model's provider family.
func price(model string, w, h float64) int64 {
	if rule := ruleOf(model); rule != nil {
		return rule(w, h)
	}
	return defaultPrice(w, h)
}

func ruleOf(model string) func(w, h float64) int64 {
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	switch {
	case strings.Contains(name, "claude"):
		return anthropicPrice
	case strings.Contains(name, "gemini"):
		return geminiPrice
	}
	for _, m := range openAIModels {
		if !strings.HasPrefix(name, m.prefix) {
			continue
		}
		if m.perPatch > 0 {
			return func(w, h float64) int64 { return patchPrice(w, h, m.perPatch) }
		}
		return func(w, h float64) int64 { return tilePrice(w, h, m.base, m.perTile) }
	}
	return nil
}

// defaultPrice is for models of no known family: Anthropic's rule, as it grows
// with the pixels and lies between the others.
func defaultPrice(w, h float64) int64 { return anthropicPrice(w, h) }

// Anthropic, "Vision" guide: tokens = width × height / 750; an image whose long
// edge exceeds 1568 pixels or that would cost more than about 1,600 tokens
// (1.15 megapixels) is scaled down first, keeping its proportions.
const (
	anthropicEdge     = 1568
	anthropicPixels   = 1.15e6
	anthropicPerToken = 750
)

func anthropicPrice(w, h float64) int64 {
	if long := max(w, h); long > anthropicEdge {
		w, h = w*anthropicEdge/long, h*anthropicEdge/long
	}
	return int64(math.Ceil(min(w*h, anthropicPixels) / anthropicPerToken))
}

// Gemini API, "Image understanding": 258 tokens when both sides are at most 384
// pixels, else 258 for each tile of 768 × 768, the tile edge being the short side
// divided by 1.5, kept between 256 and 768.
const (
	geminiTokens   = 258
	geminiSmall    = 384
	geminiTileMin  = 256
	geminiTileMax  = 768
	geminiCropUnit = 1.5
)

func geminiPrice(w, h float64) int64 {
	if w <= geminiSmall && h <= geminiSmall {
		return geminiTokens
	}
	tile := min(max(math.Floor(min(w, h)/geminiCropUnit), geminiTileMin), geminiTileMax)
	return geminiTokens * int64(math.Ceil(w/tile)*math.Ceil(h/tile))
}

// openAIModel is how one family of OpenAI models bills images: by 32-pixel
// patches, or by 512-pixel tiles on top of a base price.
type openAIModel struct {
	prefix        string
	perPatch      float64 // tokens per patch; 0: billed by tiles
	base, perTile int64
}

// openAIModels holds the first prefix that fits. Tile prices and the 4.1 and
// o4-mini factors: OpenAI, "Images and vision" guide. The 1.2 and 1.5 of the GPT-5
// patch models: what the API bills (community.openai.com topics 1344040 and
// 1377015; the guide's 1.62 and 2.46 overstate it by a third).
var openAIModels = []openAIModel{
	{prefix: "gpt-4o-mini", base: 2833, perTile: 5667},
	{prefix: "gpt-4.1-mini", perPatch: 1.62},
	{prefix: "gpt-4.1-nano", perPatch: 2.46},
	{prefix: "gpt-4", base: 85, perTile: 170},
	{prefix: "chatgpt-4o", base: 85, perTile: 170},
	{prefix: "o4-mini", perPatch: 1.72},
	{prefix: "codex-mini", perPatch: 1.72},
	{prefix: "o1", base: 75, perTile: 150},
	{prefix: "o3", base: 75, perTile: 150},
	{prefix: "computer-use", base: 65, perTile: 129},
	{prefix: "gpt-5-nano", perPatch: 1.5},
	{prefix: "gpt-5-mini", perPatch: 1.2},
	{prefix: "gpt-5-codex-mini", perPatch: 1.2},
	{prefix: "gpt-5.1-codex-mini", perPatch: 1.2},
	{prefix: "gpt-5.1", base: 70, perTile: 140},
	{prefix: "gpt-5.", perPatch: 1.2},
	{prefix: "gpt-5", base: 70, perTile: 140},
	{prefix: "codex", perPatch: 1.2},
}

// OpenAI, "Images and vision": at most 1,536 patches of 32 pixels; tiles of 512
// pixels after fitting into 2048 × 2048 and bringing the short side to 768.
const (
	patchEdge    = 32
	maxPatches   = 1536
	tileEdge     = 512
	tileFit      = 2048
	tileShortFit = 768
)

// patchPrice scales an image over the cap down so that a whole number of patches
// fits at least one side, as the guide's formula does.
func patchPrice(w, h, factor float64) int64 {
	patches := math.Ceil(w/patchEdge) * math.Ceil(h/patchEdge)
	if patches > maxPatches {
		r := math.Sqrt(patchEdge * patchEdge * maxPatches / (w * h))
		wide, high := w*r/patchEdge, h*r/patchEdge
		r *= min(math.Floor(wide)/wide, math.Floor(high)/high)
		patches = math.Ceil(w*r/patchEdge-1e-9) * math.Ceil(h*r/patchEdge-1e-9)
		patches = min(max(patches, 1), maxPatches)
	}
	return int64(math.Round(patches * factor))
}

func tilePrice(w, h float64, base, perTile int64) int64 {
	if long := max(w, h); long > tileFit {
		w, h = w*tileFit/long, h*tileFit/long
	}
	if short := min(w, h); short > tileShortFit {
		w, h = w*tileShortFit/short, h*tileShortFit/short
	}
	tiles := math.Ceil(w/tileEdge-1e-9) * math.Ceil(h/tileEdge-1e-9)
	return base + perTile*int64(tiles)
}
