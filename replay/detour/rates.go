package detour

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/fclog/fclog/compress"
	"github.com/fclog/fclog/internal/smallfile"
)

// Stratum is how often outputs of one sort were gone back to. Rates are pooled and
// between 0 and 1. Low and High bound 95 % of the posterior. An empty Agent, Kind,
// Band or Marker means all of them.
type Stratum struct {
	Agent          string        `json:"agent"`
	Kind           compress.Kind `json:"kind"`
	Band           string        `json:"band"` // characters as the model saw them
	Marker         Marker        `json:"marker"`
	Cases          int64         `json:"cases"`      // truncated outputs
	Recoveries     int64         `json:"recoveries"` // of them, gone back to within three requests
	Rate           float64       `json:"rate"`
	Low            float64       `json:"low"`
	High           float64       `json:"high"`
	NullCases      int64         `json:"null_cases"`      // whole outputs of the same agent, kind and band
	NullRecoveries int64         `json:"null_recoveries"` // of them, followed by the same pattern
	NullRate       float64       `json:"null_rate"`
	NullLow        float64       `json:"null_low"`
	NullHigh       float64       `json:"null_high"`
	Net            float64       `json:"net"` // Rate - NullRate, at least 0
	NetLow         float64       `json:"net_low"`
	NetHigh        float64       `json:"net_high"`
	Pool           string        `json:"pool,omitempty"` // strata of the same name hold the same cases
	Note           string        `json:"note,omitempty"`

	noNull bool // no whole output at all is there to compare with: null and net are unknown
}

// MarshalJSON writes what is unknown as null: without a case there is no rate.
func (s Stratum) MarshalJSON() ([]byte, error) {
	type plain Stratum
	if s.Cases > 0 && !s.noNull {
		return json.Marshal(plain(s))
	}
	rate := func(v float64) *float64 {
		if s.Cases == 0 {
			return nil
		}
		return &v
	}
	null := func(v float64) *float64 {
		if s.NullCases == 0 {
			return nil
		}
		return &v
	}
	return json.Marshal(struct {
		plain
		Rate     *float64 `json:"rate"`
		Low      *float64 `json:"low"`
		High     *float64 `json:"high"`
		NullRate *float64 `json:"null_rate"`
		NullLow  *float64 `json:"null_low"`
		NullHigh *float64 `json:"null_high"`
		Net      *float64 `json:"net"`
		NetLow   *float64 `json:"net_low"`
		NetHigh  *float64 `json:"net_high"`
	}{
		plain: plain(s), Rate: rate(s.Rate), Low: rate(s.Low), High: rate(s.High),
		NullRate: null(s.NullRate), NullLow: null(s.NullLow), NullHigh: null(s.NullHigh),
	})
}

// Rates are base rates of recoveries, from logs or from the orientation figures.
type Rates struct {
	SchemaVersion  int          `json:"schema_version"`
	Source         string       `json:"source"`           // where the figures come from, one phrase
	Sessions       int64        `json:"sessions"`         // of the logs they were fitted on; 0 for the orientation figures
	PriorCases     float64      `json:"prior_cases"`      // how many cases of its own outweigh the overall rate
	NullPriorCases float64      `json:"null_prior_cases"` // the same for the null
	Overall        Stratum      `json:"overall"`
	Strata         []Stratum    `json:"strata"`
	Calibration    *Calibration `json:"calibration"` // nil: not checked by cross-validation
}

// MarshalJSON writes the null and the net as unknown where logs hold no whole output
// to compare with: what they were drawn to is a guess, not a rate.
func (r Rates) MarshalJSON() ([]byte, error) {
	type plain Rates
	if r.noNull() {
		r.Strata = slices.Clone(r.Strata)
		r.Overall.noNull = true
		for i := range r.Strata {
			r.Strata[i].noNull = true
		}
	}
	return json.Marshal(plain(r))
}

// noNull says that rates were fitted on logs without a whole output to compare with.
// Published rates have a null without a count.
func (r Rates) noNull() bool { return r.Sessions > 0 && r.Overall.NullCases == 0 }

// schemaVersion is that of saved rates.
const schemaVersion = 1

//go:embed orientation.json
var orientationFile []byte

// Orientation returns the figures to use where logs hold too few cases.
func Orientation() Rates {
	var file struct {
		Source  string    `json:"source"`
		Overall Stratum   `json:"overall"`
		Strata  []Stratum `json:"strata"`
	}
	if err := json.Unmarshal(orientationFile, &file); err != nil {
		panic("detour: orientation.json: " + err.Error())
	}
	r := Rates{SchemaVersion: schemaVersion, Source: "orientation figures: " + file.Source, Overall: file.Overall}
	r.Overall.bound()
	for _, s := range file.Strata {
		s.bound()
		r.Strata = append(r.Strata, s)
	}
	return r
}

// bound fills what published figures leave out: the count from the rate, the
// interval from the count, and the difference. The null has no count, hence no
// interval of its own.
func (s *Stratum) bound() {
	if s.Recoveries == 0 {
		s.Recoveries = int64(math.Round(s.Rate * float64(s.Cases)))
	}
	if s.High == 0 {
		s.Low, s.High = interval(float64(s.Recoveries)+jeffreys, float64(s.Cases-s.Recoveries)+jeffreys)
	}
	s.NullLow, s.NullHigh = s.NullRate, s.NullRate
	s.subtract()
}

// subtract takes the null off. The bounds of the difference are those of Zou and
// Donner (MOVER, Statistics in Medicine 27, 2008): the distances of each rate to
// its own bounds, added in squares.
func (s *Stratum) subtract() {
	d := s.Rate - s.NullRate
	s.Net = math.Max(0, d)
	s.NetLow = math.Max(0, d-math.Hypot(s.Rate-s.Low, s.NullHigh-s.NullRate))
	s.NetHigh = math.Min(1, math.Max(0, d+math.Hypot(s.High-s.Rate, s.NullRate-s.NullLow)))
}

// jeffreys is the prior that gives intervals for a rate without a better one.
const jeffreys = 0.5

// interval bounds 95 % of a Beta distribution.
func interval(a, b float64) (low, high float64) {
	return betaQuantile(a, b, 0.025), betaQuantile(a, b, 0.975)
}

// For returns the rate to expect for an output: that of its own stratum, else of
// the marker or the kind, else the overall one. No harness cuts line numbers alone,
// so for those it is always the orientation figure.
func (r Rates) For(agent string, kind compress.Kind, band string, marker Marker) Stratum {
	if marker == LineNumbers && r.Sessions > 0 {
		return Orientation().For(agent, kind, band, marker)
	}
	wanted := []Stratum{
		{Agent: agent, Kind: kind, Band: band, Marker: marker},
		{Marker: marker},
		{Kind: kind},
	}
	for _, w := range wanted {
		if w.key() == (stratum{}) {
			continue
		}
		for _, s := range r.Strata {
			if s.key() == w.key() {
				return s
			}
		}
	}
	return r.Overall
}

func (s Stratum) key() stratum { return stratum{s.Agent, s.Kind, s.Band, s.Marker} }

// Write saves rates as JSON.
func (r Rates) Write(w io.Writer) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("writing base rates: %w", err)
	}
	if _, err := w.Write(append(data, '\n')); err != nil {
		return fmt.Errorf("writing base rates: %w", err)
	}
	return nil
}

// maxFile bounds a file of base rates in bytes; one of all strata has some kilobytes.
const maxFile = 16 << 20

// Load reads rates that Write has saved.
func Load(path string) (Rates, error) {
	data, err := smallfile.Read(path, maxFile)
	if err != nil {
		return Rates{}, fmt.Errorf("reading base rates: %w", err)
	}
	var r Rates
	if err := json.Unmarshal(data, &r); err != nil {
		return Rates{}, fmt.Errorf("%s: not a file of base rates: %w", path, err)
	}
	if r.SchemaVersion != schemaVersion {
		return Rates{}, fmt.Errorf("%s: base rates of version %d, this program reads %d", path, r.SchemaVersion, schemaVersion)
	}
	switch {
	case r.Overall.Cases == 0:
		return Rates{}, fmt.Errorf("%s: holds no truncated output, hence no rate", path)
	case r.noNull():
		return Rates{}, fmt.Errorf("%s: holds no whole output to compare with, hence no net rate", path)
	}
	for _, s := range append([]Stratum{r.Overall}, r.Strata...) {
		if !s.sane() {
			return Rates{}, fmt.Errorf("%s: a rate lies outside of 0 to 1", path)
		}
	}
	return r, nil
}

func (s Stratum) sane() bool {
	for _, v := range []float64{s.Rate, s.Low, s.High, s.NullRate, s.Net, s.NetLow, s.NetHigh} {
		if !(v >= 0 && v <= 1) {
			return false
		}
	}
	return s.Cases >= 0 && s.Recoveries >= 0
}
