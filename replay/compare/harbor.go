package compare

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fclog/fclog/rollout/logfile"
)

// PassAt is the reward from which on a Harbor trial counts as passed. Rewards are
// any number, so the mean reward is compared as well.
const PassAt = 1.0

// Harbor is the result.json of one trial of the Harbor evaluation harness.
type Harbor struct {
	File     string
	Trial    string
	Task     Task
	Agent    string // name of the agent
	Arm      string // model and settings it ran with, as "model key=value …"
	Reward   *float64
	Failed   bool // the trial ended in an exception (a time-out, say)
	Input    *int64
	Cached   *int64
	Output   *int64
	CostUSD  *float64
	Problems []string // keys that are not of the expected type
}

type harborResult struct {
	TrialName    string         `json:"trial_name"`
	TaskName     string         `json:"task_name"`
	TaskChecksum string         `json:"task_checksum"`
	Exception    jsontext.Value `json:"exception_info"`
	Config       struct {
		Agent struct {
			Name   string         `json:"name"`
			Model  string         `json:"model_name"`
			Kwargs map[string]any `json:"kwargs"`
		} `json:"agent"`
	} `json:"config"`
	AgentResult struct {
		Input  jsontext.Value `json:"n_input_tokens"`
		Cached jsontext.Value `json:"n_cache_tokens"`
		Output jsontext.Value `json:"n_output_tokens"`
		Cost   jsontext.Value `json:"cost_usd"`
	} `json:"agent_result"`
	Verifier struct {
		Rewards map[string]jsontext.Value `json:"rewards"`
	} `json:"verifier_result"`
}

// ReadHarbor reads a trial's result.json. A result.json of a whole job, or any
// other file, is an error.
func ReadHarbor(path string) (*Harbor, error) {
	data, err := readAll(path)
	if err != nil {
		return nil, err
	}
	var r harborResult
	if err := logfile.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", path, lineOf(data, err), err)
	}
	if r.TrialName == "" || r.TaskName == "" {
		return nil, fmt.Errorf("%s: no result of a trial: trial_name or task_name is missing", path)
	}
	h := &Harbor{
		File: path, Trial: r.TrialName, Agent: r.Config.Agent.Name,
		Task:   Task{Checksum: r.TaskChecksum, Name: r.TaskName},
		Arm:    armOf(r.Config.Agent.Model, r.Config.Agent.Kwargs),
		Failed: len(r.Exception) > 0 && r.Exception.Kind() != 'n',
	}
	h.Input = number[int64](r.AgentResult.Input, "agent_result.n_input_tokens", &h.Problems)
	h.Cached = number[int64](r.AgentResult.Cached, "agent_result.n_cache_tokens", &h.Problems)
	h.Output = number[int64](r.AgentResult.Output, "agent_result.n_output_tokens", &h.Problems)
	h.CostUSD = number[float64](r.AgentResult.Cost, "agent_result.cost_usd", &h.Problems)
	h.Reward = h.reward(r.Verifier.Rewards)
	return h, nil
}

// reward is the one called so, else the only one there is.
func (h *Harbor) reward(all map[string]jsontext.Value) *float64 {
	raw, ok := all["reward"]
	if !ok && len(all) == 1 {
		for _, only := range all {
			raw = only
		}
	}
	return number[float64](raw, "verifier_result.rewards", &h.Problems)
}

func armOf(model string, kwargs map[string]any) string {
	words := make([]string, 0, len(kwargs))
	for k, v := range kwargs {
		words = append(words, fmt.Sprintf("%s=%v", k, v))
	}
	slices.Sort(words)
	return strings.TrimSpace(strings.Join(append([]string{model}, words...), " "))
}

// Apply adds what only the harness knows to a trial made of its log: task, reward,
// and whether the trial died.
func (h *Harbor) Apply(t *Trial) {
	t.Task.Checksum, t.Task.Name = h.Task.Checksum, h.Task.Name
	t.Score, t.Arm = h.Reward, h.Arm
	if h.Reward != nil {
		t.Passed = new(*h.Reward >= PassAt)
	}
	if h.Failed {
		t.Excluded = "exception"
	}
}

// AsTrial is the trial as far as the result alone tells of it: its tokens, but no
// requests and no calls.
func (h *Harbor) AsTrial() Trial {
	t := Trial{Name: h.Trial}
	t.Input, t.Output, t.CacheRead, t.CostUSD = h.Input, h.Output, h.Cached, h.CostUSD
	if h.Input != nil && h.Cached != nil && *h.Cached <= *h.Input {
		t.Uncached = new(*h.Input - *h.Cached)
	}
	if h.CostUSD == nil {
		t.Unpriced = 1
	}
	h.Apply(&t)
	return t
}

// HarborBeside is the path of the trial result that belongs to a log: NAME.result.json
// beside NAME.trajectory.json, else the result.json of the folder or of one of
// the 8 above it that is one of a trial; "" none.
func HarborBeside(log string) string {
	dir, name := filepath.Split(log)
	if stem, ok := strings.CutSuffix(name, ".trajectory.json"); ok {
		if path := filepath.Join(dir, stem+".result.json"); isTrialResult(path) {
			return path
		}
	}
	dir = filepath.Clean(dir)
	for range 9 {
		if path := filepath.Join(dir, "result.json"); isTrialResult(path) {
			return path
		}
		up := filepath.Dir(dir)
		if up == dir {
			break
		}
		dir = up
	}
	return ""
}

func isTrialResult(path string) bool {
	if _, err := os.Stat(path); err != nil {
		return false
	}
	_, err := ReadHarbor(path)
	return err == nil
}

// maxReport is the largest report read into memory, in bytes.
const maxReport = 256 << 20

func readAll(path string) ([]byte, error) {
	in, err := logfile.Content(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, maxReport+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(data) > maxReport {
		return nil, fmt.Errorf("%s: larger than %d MB: no report", path, maxReport>>20)
	}
	return data, nil
}
