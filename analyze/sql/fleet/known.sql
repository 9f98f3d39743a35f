-- Estimates that sessions which were selected have already.
SELECT DISTINCT source, part, session_id, variant, options, rules, prices
FROM raw_estimates
SEMI JOIN selected USING (source, part, session_id)
