package compare

// SchemaVersion is the version of the JSON form of Result. Keys are added, never
// renamed.
const SchemaVersion = 1

// Result is two arms side by side. Nil means unknown.
type Result struct {
	SchemaVersion int              `json:"schema_version"`
	Source        string           `json:"source"` // logs, or the report it was read from
	Baseline      Arm              `json:"baseline"`
	Candidate     Arm              `json:"candidate"`
	PairedTasks   int              `json:"paired_tasks"`
	Deltas        Deltas           `json:"deltas"`
	Tasks         []TaskResult     `json:"tasks"`
	CaseVerdicts  map[string]int   `json:"case_verdicts"` // number of tasks by case verdict
	TurnMatched   *TurnMatched     `json:"turn_matched"`  // nil: no task with equal requests in both arms
	Parallel      *Parallel        `json:"parallel"`      // nil: not asked for
	Predicted     []PredictedDelta `json:"predicted"`
	Need          *Need            `json:"trials_needed"` // to show the change measured here
	Method        Method           `json:"method"`
	Verdict       Verdict          `json:"verdict"`
	Warnings      []string         `json:"warnings"`

	priced bool // every trial of the paired tasks has its price
}

// Arm is what one side used over all its trials, paired or not, excluded ones apart.
type Arm struct {
	Name            string            `json:"name"`
	Settings        map[string]string `json:"settings"` // what a report says it changed
	Trials          int64             `json:"trials"`
	Excluded        int64             `json:"excluded_trials"`
	ExcludedTokens  *int64            `json:"excluded_tokens"`
	Sessions        int64             `json:"sessions"`
	Requests        *int64            `json:"requests"`
	Answered        *int64            `json:"answered_requests"`
	Tokens          *int64            `json:"tokens"` // input + output
	Input           *int64            `json:"input_tokens"`
	Uncached        *int64            `json:"uncached_input_tokens"`
	CacheRead       *int64            `json:"cache_read_tokens"`
	CacheWrite      *int64            `json:"cache_write_tokens"`
	Output          *int64            `json:"output_tokens"`
	CostUSD         *float64          `json:"cost_usd"`             // over fully priced trials only
	Unpriced        int64             `json:"unpriced_trials"`      // left out of cost_usd
	NoUsage         int64             `json:"trials_without_usage"` // left out of the comparison of tokens
	Calls           *int64            `json:"calls"`
	RepeatedCalls   *int64            `json:"repeated_calls"`
	Passed          *int64            `json:"passed"`
	Judged          int64             `json:"judged_trials"` // those with a recorded outcome
	PassRate        *float64          `json:"pass_rate"`     // 0 to 1
	Score           *float64          `json:"mean_score"`
	UnpairedTasks   []string          `json:"unpaired_tasks"` // labels; may hold log text
	UnpairedTrials  int64             `json:"unpaired_trials"`
	SnapshotOutputs int64             `json:"non_final_outputs"`
	ReportedTrials  int64             `json:"reported_trials"` // usage known for sessions as a whole, no usage per request
}

// Deltas are the changes over paired tasks. Nil: unknown in one of the arms.
// ln tokens = ln requests + ln tokens_per_request.
type Deltas struct {
	Tokens           *Delta `json:"tokens"`
	Requests         *Delta `json:"requests"`
	TokensPerRequest *Delta `json:"tokens_per_request"`
	Input            *Delta `json:"input_tokens"`
	Uncached         *Delta `json:"uncached_input_tokens"`
	CacheRead        *Delta `json:"cache_read_tokens"`
	CacheWrite       *Delta `json:"cache_write_tokens"`
	Output           *Delta `json:"output_tokens"`
	CostUSD          *Delta `json:"cost_usd"`
	RepeatedCalls    *Delta `json:"repeated_calls"`
	PassRate         *Delta `json:"pass_rate"`
	Score            *Delta `json:"score"`
}

// Delta is the change of one figure. Change, Low and High are natural logs of the
// ratio candidate / baseline, or, for repeated_calls, pass_rate and score, the
// difference candidate - baseline.
type Delta struct {
	Baseline    float64  `json:"baseline"`  // mean per trial over paired tasks, every task alike
	Candidate   float64  `json:"candidate"` // (tokens_per_request: ratio of the two means)
	Log         bool     `json:"log"`
	Change      *float64 `json:"change"`  // nil: a ratio with a 0
	Low         *float64 `json:"low"`     // nil: no interval
	High        *float64 `json:"high"`    //
	Percent     *float64 `json:"percent"` // 100 × (ratio - 1); nil for differences
	PercentLow  *float64 `json:"percent_low"`
	PercentHigh *float64 `json:"percent_high"`
	Significant bool     `json:"significant"`
	Mark        string   `json:"mark"` // "~" not significant, else ""
	Why         string   `json:"why"`  // why it is not significant; "" it is
	Tasks       int      `json:"tasks"`
	Noise       *Noise   `json:"noise"`
}

// TaskResult is one paired task. Figures are means per trial.
type TaskResult struct {
	Label           string   `json:"label"` // may hold log text
	Task            Task     `json:"task"`
	Baseline        TaskArm  `json:"baseline"`
	Candidate       TaskArm  `json:"candidate"`
	LnTokens        *float64 `json:"ln_tokens"`
	LnRequests      *float64 `json:"ln_requests"`
	LnPerRequest    *float64 `json:"ln_tokens_per_request"`
	PerRequest      *float64 `json:"added_tokens_per_request"` // only where requests match
	Verdict         string   `json:"case_verdict"`             // improved, regressed, unchanged-pass, unchanged-fail, inconclusive
	Recorded        string   `json:"recorded_case_verdict"`    // what the report itself says; "" nothing
	RecordedDiffers bool     `json:"recorded_differs"`
}

// TaskArm is one arm of a task, means per trial.
type TaskArm struct {
	Trials        float64  `json:"trials"`
	Requests      *float64 `json:"requests"`
	Tokens        *float64 `json:"tokens"`
	CostUSD       *float64 `json:"cost_usd"` // over fully priced trials
	RepeatedCalls *float64 `json:"repeated_calls"`
	Passed        *float64 `json:"passed"` // number of trials
}

// TurnMatched is the tasks whose requests are equal in both arms: there the whole
// difference is one of tokens per request.
type TurnMatched struct {
	Tasks      int     `json:"tasks"`
	Requests   float64 `json:"requests"`                 // Σ of the means per trial
	Mean       float64 `json:"added_tokens_per_request"` // Σ added tokens / Σ requests
	Low        float64 `json:"added_low"`                // of the single tasks
	High       float64 `json:"added_high"`
	LnTokens   float64 `json:"ln_tokens"` // over these tasks alone
	PerRequest string  `json:"words"`
}

// Method says how intervals were made.
type Method struct {
	Bootstrap    string  `json:"bootstrap"`
	Draws        int     `json:"draws"`
	Seed         int64   `json:"seed"`
	Level        float64 `json:"level"`
	Arrangements float64 `json:"arrangements"` // ways to deal the trials to the arms, for tokens
}
