package analyze

import (
	_ "embed"
	"encoding/json"
	"fmt"
)

//go:embed published.json
var publishedJSON []byte

// publishedFigure is what GitHub's Copilot team published for a technique. It
// was measured on other agents and other work: an orientation, not a promise.
type publishedFigure struct {
	Figure string `json:"figure"`
	By     string `json:"by"`
	Source string `json:"source"`
	Date   string `json:"date"` // YYYY-MM-DD
}

func (p publishedFigure) String() string {
	return fmt.Sprintf("%s (%s, %s, %s)", p.Figure, p.By, p.Date, p.Source)
}

// published returns the published figures by technique, nil where none was
// found.
func published() (map[string]*publishedFigure, error) {
	figures := map[string]*publishedFigure{}
	if err := json.Unmarshal(publishedJSON, &figures); err != nil {
		return nil, fmt.Errorf("reading published figures: %w", err)
	}
	return figures, nil
}
