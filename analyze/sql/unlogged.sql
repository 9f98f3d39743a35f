-- What stands in no log, constant and changing
--
-- The part of the recorded input that neither logged content nor framing explain, split for each conversation and
-- model: what goes out unchanged with every turn (system prompt and tool definitions, mostly), which is an estimate
-- with bounds, and what changes along the way. Turns without usage have the same constant part; it is in no total.
--
-- Columns:
--   session_id             the agent's own ID
--   source                 log format
--   chain                  conversation within the session, 0 the main one
--   model                  model as logged; NULL unknown
--   method                 what the constant part was taken from: log, first-request, cache-reads, calibration, totals; NULL nothing tells
--   constant_tokens        constant part of one turn, provider tokens
--   constant_low           lower bound of it
--   constant_high          upper bound of it
--   requests               requests with usage
--   unlogged_tokens        unlogged tokens of those
--   constant_carried       constant part of those, requests x constant_tokens, but no more than is unlogged: what is estimated beyond that is an error of counting
--   constant_carried_low   lower bound of requests x constant_tokens
--   constant_carried_high  upper bound of it
--   changing_carried       unlogged_tokens less constant_carried, never below 0: reminders and the like, and errors of counting; NULL where nothing tells
--   blind_requests         requests without usage
--   blind_constant         constant part of those, an estimate
--   blind_constant_low     lower bound of it
--   blind_constant_high    upper bound of it
SELECT session_id, source, chain, model,
       constant_method AS method,
       constant_tokens, constant_low, constant_high,
       count(unlogged_tokens) AS requests,
       sum(unlogged_tokens)::BIGINT AS unlogged_tokens,
       (CASE WHEN sum(unlogged_tokens - constant_tokens) IS NOT NULL THEN least(sum(constant_tokens) FILTER (WHERE unlogged_tokens IS NOT NULL), greatest(sum(unlogged_tokens), 0)) END)::BIGINT AS constant_carried,
       (sum(constant_low) FILTER (WHERE unlogged_tokens IS NOT NULL))::BIGINT AS constant_carried_low,
       (sum(constant_high) FILTER (WHERE unlogged_tokens IS NOT NULL))::BIGINT AS constant_carried_high,
       (CASE WHEN sum(unlogged_tokens - constant_tokens) IS NOT NULL THEN greatest(sum(unlogged_tokens - constant_tokens), 0) END)::BIGINT AS changing_carried,
       count(*) FILTER (WHERE unlogged_tokens IS NULL) AS blind_requests,
       (sum(constant_tokens) FILTER (WHERE unlogged_tokens IS NULL))::BIGINT AS blind_constant,
       (sum(constant_low) FILTER (WHERE unlogged_tokens IS NULL))::BIGINT AS blind_constant_low,
       (sum(constant_high) FILTER (WHERE unlogged_tokens IS NULL))::BIGINT AS blind_constant_high
FROM requests
WHERE counts
GROUP BY ALL
ORDER BY session_id, source, chain, model NULLS FIRST, constant_tokens NULLS FIRST
