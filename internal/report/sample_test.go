package report_test

import (
	"time"

	"github.com/fclog/fclog/analyze"
)

func ptr[T any](v T) *T { return &v }

// sample is an invented audit of one session. Its totals add up: 9,000,000 input
// = 2,100,000 uncached + 6,800,000 read + 100,000 written, and the shares are
// carried ÷ 9,000,000.
func sample() *analyze.Audit {
	start := time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC)
	end := start.Add(95 * time.Minute)
	totals := analyze.Totals{
		Sessions: 1, Runs: 4, Requests: 120, AnsweredRequests: 119,
		InputTokens: ptr(int64(9_000_000)), UncachedInputTokens: ptr(int64(2_100_000)), CacheReadTokens: ptr(int64(6_800_000)),
		CacheWriteTokens: ptr(int64(100_000)), OutputTokens: ptr(int64(41_196)), ReasoningTokens: ptr(int64(20_264)),
		CostUSD: ptr(4.215), CountedTokens: 8_300_000, FramingTokens: ptr(int64(90_000)), UnloggedTokens: ptr(int64(610_000)),
		PeakInputTokens: ptr(int64(141_300)), Calls: 131, RepeatedCalls: 17, RepeatedCallsStrict: 6,
	}
	a := &analyze.Audit{
		SchemaVersion: 1,
		Sessions: []analyze.SessionSummary{{
			SessionID: "0f3c2a52-1111-4222-8333-944455556666", Source: "codex", AgentVersion: ptr("0.104.0"),
			File: "/home/me/.codex/sessions/rollout.jsonl", Models: []string{"gpt-5.3-codex"},
			StartedAt: &start, EndedAt: &end, Own: totals, Inclusive: totals,
		}},
		Totals:    totals,
		CostBasis: []analyze.CostBasis{{Provider: ptr("openai"), Model: ptr("gpt-5.3-codex"), Basis: "priced", Requests: 119, PriceDate: ptr("2026-02-01")}},
		Composition: []analyze.Share{
			sampleShare("tool_result", ptr("exec_command"), 98, 61_000, 4_500_000),
			sampleShare("tool_result", ptr("read_file"), 12, 18_500, 1_350_000),
			sampleShare("reasoning", nil, 60, 20_264, 900_000),
			sampleShare("tool_call", ptr("exec_command"), 98, 9_100, 720_000),
			sampleShare("user_text", nil, 5, 4_200, 450_000),
			sampleShare("assistant_text", nil, 41, 5_100, 270_000),
			sampleShare("project_context", nil, 1, 900, 108_000),
			sampleShare("summary", nil, 1, 60, 2_000),
			sampleShare("framing", nil, 0, 0, 90_000),
			sampleShare("unlogged", nil, 0, 0, 610_000),
		},
		// 119 turns of 5,000, between 4,980 and 5,030; one more had no answer.
		Unlogged: analyze.Unlogged{
			Tokens: ptr(int64(610_000)), ConstantTokens: ptr(int64(595_000)), ConstantLow: ptr(int64(592_620)), ConstantHigh: ptr(int64(598_570)),
			ChangingTokens: ptr(int64(15_000)), BlindRequests: 1, BlindTokens: ptr(int64(5_000)), BlindLow: ptr(int64(4_980)), BlindHigh: ptr(int64(5_030)),
			Constants: []analyze.Constant{{Source: "codex", Method: ptr("first-request"), Tokens: ptr(int64(5_000)), Low: ptr(int64(4_980)), High: ptr(int64(5_030)), Requests: 119, BlindRequests: 1}},
		},
		TopItems: []analyze.TopItem{
			{Item: 14, Kind: "tool_result", Tool: ptr("exec_command"), What: ptr("go test ./... -count=1 -run TestEverything -v 2>&1 | tail -n 400"), Tokens: 9_800, Requests: 71, FirstRequest: 12, LastRequest: 82, CarriedTokens: 695_800, BilledTokens: ptr(695_800.0), Share: ptr(0.0773)},
			{Item: 31, Kind: "tool_result", Tool: ptr("read_file"), What: ptr("/home/me/src/project/internal/very/deep/folder/with/a/long/name/handler_of_requests_test.go"), Tokens: 6_200, Requests: 60, FirstRequest: 23, LastRequest: 82, CarriedTokens: 372_000, BilledTokens: ptr(372_000.0), Share: ptr(0.0413)},
			{Item: 2, Kind: "user_text", Tokens: 2_100, Requests: 120, FirstRequest: 1, LastRequest: 120, CarriedTokens: 252_000, BilledTokens: ptr(252_000.0), Share: ptr(0.028)},
		},
		RepeatedCalls: []analyze.RepeatedCall{
			{Tool: "exec_command", Args: ptr(`{"cmd":"git status --short"}`), Times: 9, StrictRepeats: 4, Tokens: 720, CarriedTokens: 41_000, Class: "shell"},
			{Tool: "read_file", Args: ptr(`{"path":"/home/me/src/project/go.mod"}`), Times: 3, StrictRepeats: 2, Tokens: 1_900, CarriedTokens: 88_000, Class: "read"},
			{Tool: "update_plan", Args: nil, Times: 8, Tokens: 64, CarriedTokens: 3_100, Class: "todo"},
		},
		Polling: analyze.Polling{Episodes: 2, Polls: 11, EmptyPolls: 7, RequestsLow: 9, RequestsHigh: 11, InputTokens: ptr(int64(812_000)), OutputTokens: ptr(int64(940)), PiggyBacked: 1, Basis: analyze.Measured},
		CacheBreaks: []analyze.CacheBreak{
			{Cause: "block-before-conversation", Requests: 14, LostTokens: 1_210_000, ShareOfInput: ptr(0.13444), Basis: analyze.Measured},
			{Cause: "run-border", Requests: 3, LostTokens: 61_000, ShareOfInput: ptr(0.00678), Basis: analyze.Measured},
			{Cause: "compaction", Requests: 1, LostTokens: 52_000, ShareOfInput: ptr(0.00578), Basis: analyze.Measured},
			{Cause: "unknown", Requests: 2, LostTokens: 900, ShareOfInput: ptr(0.0001), Basis: analyze.Measured},
		},
		Savings: []analyze.Saving{
			{Technique: "output-compression", AddressableTokens: ptr(int64(44_000)), AddressableCarriedTokens: ptr(int64(3_100_000)), Share: ptr(0.3444), Published: ptr("−9.6 % of input (vendor's blog)"), Basis: analyze.Counted, Note: "shell output of 2 KB and more"},
			{Technique: "cache-breaks", AddressableTokens: nil, AddressableCarriedTokens: ptr(int64(1_323_900)), Share: ptr(0.1471), Basis: analyze.Measured, Note: "input paid for again"},
			{Technique: "inline-batching", AddressableTokens: nil, AddressableCarriedTokens: ptr(int64(812_000)), AddressableRequests: ptr(int64(11)), Share: ptr(0.0902), Published: ptr("−4 % of requests"), Basis: analyze.Measured, Note: "requests that only waited"},
			{Technique: "line-number-prefixes", AddressableTokens: ptr(int64(2_900)), AddressableCarriedTokens: ptr(int64(201_000)), Share: ptr(0.0223), Basis: analyze.Counted, Note: "prefixes of file reads"},
			{Technique: "recurring-block", Basis: analyze.Estimated, Note: "the log holds no reminders"},
		},
		OtherBilled: []analyze.OtherBilled{{Kind: "memory", Calls: 2, InputTokens: ptr(int64(5_200)), Estimate: true}},
		Counting: []analyze.Counting{{SessionID: "0f3c2a52-1111-4222-8333-944455556666", Model: ptr("gpt-5.3-codex"), Encoding: "o200k_base", PublicEncoding: true,
			Factor: ptr(1.0), FactorLow: ptr(1.0), FactorHigh: ptr(1.0), FramingPerMessage: ptr(3.8), Pairs: 57, Explained: ptr(0.968), LeftOut: 2}},
		Missing:  []analyze.Missing{{What: "tool definitions", Sessions: 1}, {What: "reasoning text", Sessions: 1}},
		LeftOut:  analyze.LeftOut{SubAgentSessions: 2},
		Problems: []analyze.Problem{{File: "/home/me/.codex/sessions/rollout.jsonl", Line: 812, Kind: "cut-line", Detail: "the last line is cut off; it was skipped", Count: 1}, {File: "/home/me/.codex/sessions/rollout.jsonl", Line: 3, Kind: "unknown-record", Detail: "records of an unknown type", Count: 41}},
	}
	a.Growth = sampleGrowth()
	return a
}

func sampleShare(kind string, tool *string, items, once, carried int64) analyze.Share {
	basis := analyze.Counted
	if kind == "framing" || kind == "unlogged" {
		basis = analyze.Calibrated
	}
	return analyze.Share{Kind: kind, Tool: tool, Items: items, Tokens: once, CarriedTokens: carried,
		BilledTokens: ptr(float64(carried)), Share: ptr(float64(carried) / 9_000_000), Basis: basis}
}

// sampleGrowth climbs to 141,300, is compacted at request 83 and climbs again.
func sampleGrowth() []analyze.GrowthPoint {
	var points []analyze.GrowthPoint
	for i := int64(1); i <= 120; i++ {
		p := analyze.GrowthPoint{Request: i, InputTokens: ptr(10_000 + 1_601*(i-1)%133_000), Events: []string{}}
		switch {
		case i == 83:
			p.Events = []string{"compaction", "cache-break"}
		case i == 40 || i == 101:
			p.Events = []string{"run"}
		case i == 60:
			p.Events = []string{"cache-break"}
		case i == 70:
			p.InputTokens = nil
		}
		if i >= 83 {
			p.InputTokens = ptr(18_000 + 900*(i-83))
		}
		points = append(points, p)
	}
	return points
}
