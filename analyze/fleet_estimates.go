package analyze

import (
	"context"
	"database/sql"

	"github.com/fclog/fclog/analyze/dataset"
)

// Estimates calls call with the estimate of every selected session that has one by
// that key. The counts by stratum are not in it: see Lossy and Seen.
func (f *Fleet) Estimates(ctx context.Context, key EstimateKey, call func(source string, e dataset.Estimate)) error {
	return f.each(ctx, "estimates", key, func(rows *sql.Rows) error {
		var source string
		var e dataset.Estimate
		err := rows.Scan(&source, &e.Part, &e.SessionID, &e.Task, &e.Basis, &e.Unsupported, &e.AsksModel, &e.UnpricedRequests, &e.LossyItems,
			&e.RecordedRequests, &e.RecordedInputTokens, &e.RecordedCacheRead, &e.RecordedCacheWrite, &e.RecordedOutputTokens,
			&e.RecordedUSD, &e.RecordedCountedTokens,
			&e.Requests, &e.InputTokens, &e.CacheReadTokens, &e.CacheWriteTokens, &e.OutputTokens, &e.CostUSD, &e.SavedCountedTokens,
			&e.StaticSavingTokens, &e.StaticSavingTokensHigh, &e.StaticSavingSpreadLow, &e.StaticSavingSpreadHigh, &e.StaticSavingOutputTokens,
			&e.StaticSavingUSD, &e.StaticSavingUSDHigh,
			&e.CacheReadLost, &e.ClampedRequests, &e.LaterCompactions, &e.EditedItems, &e.RemovedRequestsLow, &e.RemovedRequestsHigh, &e.AddedRequests,
			&e.ExtraKnown, &e.ExtraTokens, &e.ExtraUSD)
		if err == nil {
			call(source, e)
		}
		return err
	})
}

// Lossy sums what the selected sessions' plans cut, by stratum.
func (f *Fleet) Lossy(ctx context.Context, key EstimateKey) (out []dataset.LossyCount, err error) {
	err = f.each(ctx, "lossy", key, func(rows *sql.Rows) error {
		var n dataset.LossyCount
		err := rows.Scan(&n.Agent, &n.Kind, &n.Band, &n.Marker, &n.Items, &n.Used, &n.Null)
		out = append(out, n)
		return err
	})
	return out, err
}

// Seen sums the outputs that the selected sessions showed, by stratum.
func (f *Fleet) Seen(ctx context.Context, key EstimateKey) (out []dataset.SeenCount, err error) {
	err = f.each(ctx, "seen", key, func(rows *sql.Rows) error {
		var n dataset.SeenCount
		var unused int64
		err := rows.Scan(&n.Agent, &n.Kind, &n.Band, &n.Marker, &n.Cases, &n.Recoveries, &unused)
		out = append(out, n)
		return err
	})
	return out, err
}

func (f *Fleet) each(ctx context.Context, name string, key EstimateKey, row func(*sql.Rows) error) error {
	if err := f.refresh(ctx); err != nil {
		return err
	}
	rows, err := f.ask(ctx, name, key.Variant, key.Options, key.Rules, key.Prices)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Outcomes lists what became of predictions, the oldest first.
func (f *Fleet) Outcomes(ctx context.Context) ([]dataset.Outcome, error) {
	return outcomesOf(ctx, f.db)
}

// Outcomes lists what became of predictions, the oldest first.
func (d *DB) Outcomes(ctx context.Context) ([]dataset.Outcome, error) { return outcomesOf(ctx, d) }

func outcomesOf(ctx context.Context, d *DB) ([]dataset.Outcome, error) {
	query, err := fleetFiles.ReadFile("sql/fleet/outcomes.sql")
	if err != nil {
		return nil, err
	}
	rows, err := d.conn.QueryContext(ctx, string(query))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []dataset.Outcome
	for rows.Next() {
		var o dataset.Outcome
		err := rows.Scan(&o.Outcome, &o.Variant, &o.Baseline, &o.Candidate, &o.From, &o.Until, &o.Tasks, &o.Trials, &o.Verdict, &o.Predicted,
			&o.Sessions, &o.BaseRequests, &o.LossyItems, &o.Share, &o.ShareLow, &o.ShareHigh,
			&o.LnRequests, &o.LnPerRequest, &o.LnTokens, &o.Detours, &o.DetoursLow, &o.DetoursHigh,
			&o.MeasuredRequests, &o.MeasuredRequestsLow, &o.MeasuredRequestsHigh,
			&o.MeasuredPerRequest, &o.MeasuredPerRequestLow, &o.MeasuredPerRequestHigh,
			&o.MeasuredTokens, &o.MeasuredTokensLow, &o.MeasuredTokensHigh, &o.DetoursFound, &o.DetoursFoundLow, &o.DetoursFoundHigh)
		if err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, rows.Err()
}
