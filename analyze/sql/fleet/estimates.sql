-- The estimates of one replay, each selected session once. Parameters: variant,
-- options, rules, prices. USD are in billionths.
WITH one AS (
  SELECT e.*
  FROM raw_estimates e
  SEMI JOIN selected USING (source, part, session_id)
  WHERE e.variant = ?::VARCHAR AND e.options = ?::VARCHAR AND e.rules = ?::VARCHAR AND e.prices = ?::VARCHAR
  QUALIFY row_number() OVER (PARTITION BY e.source, e.part, e.session_id ORDER BY e.stem) = 1
)
SELECT source, part, session_id, task, basis, unsupported, asks_model, unpriced_requests, lossy_items,
       recorded_requests, recorded_input_tokens, recorded_cache_read_tokens, recorded_cache_write_tokens, recorded_output_tokens,
       (recorded_usd::DECIMAL(28,9) * 1000000000::DECIMAL(10,0))::BIGINT, recorded_counted_tokens,
       requests, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, (usd::DECIMAL(28,9) * 1000000000::DECIMAL(10,0))::BIGINT, saved_counted_tokens,
       static_saving_tokens, static_saving_tokens_high, static_saving_spread_low, static_saving_spread_high, static_saving_output_tokens,
       (static_saving_usd::DECIMAL(28,9) * 1000000000::DECIMAL(10,0))::BIGINT, (static_saving_usd_high::DECIMAL(28,9) * 1000000000::DECIMAL(10,0))::BIGINT,
       cache_read_lost, clamped_requests, later_compactions, edited_items, removed_requests_low, removed_requests_high, added_requests,
       extra_known, extra_tokens, (extra_usd::DECIMAL(28,9) * 1000000000::DECIMAL(10,0))::BIGINT
FROM one
ORDER BY source, session_id, part
