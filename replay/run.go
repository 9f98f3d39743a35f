package replay

// RunOptions join the engine with what lives outside of it.
type RunOptions struct {
	Workers int                                           // recordings at a time; 0: one per processor
	Detours func(recs []Recording, plans []Plan) *Detours // nil: no estimate of detours
	Trials  func(share float64, recs []Recording) *int64  // nil: no estimate of trials
}

// Report is what a run found out.
type Report struct {
	SchemaVersion int          `json:"schema_version"`
	Sessions      []SessionRef `json:"sessions"`
	Baseline      Totals       `json:"baseline"`
	Variants      []Estimate   `json:"variants"`
	CacheModel    CacheError   `json:"cache_model"`
	Warnings      []string     `json:"warnings"`
}

// SessionRef names a session of a report.
type SessionRef struct {
	SessionID string `json:"session_id"`
	Source    string `json:"source"`
	File      string `json:"file"`
}

// Run estimates every use over all recordings together.
func (e *Engine) Run(recs []Recording, uses []Use, o RunOptions) (*Report, error) {
	return &Report{SchemaVersion: 1}, nil
}
