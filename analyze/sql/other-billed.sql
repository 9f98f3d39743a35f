-- Other billed calls
--
-- Calls that were billed but whose content the log does not hold, such as cache warm-ups or memory calls. They are
-- in no total.
--
-- Columns:
--   session_id       the agent's own ID
--   kind             the agent's own word
--   calls            how many
--   input_tokens     tokens sent
--   output_tokens    tokens produced
--   estimate         the figures are inferred, not reported
SELECT session_id, kind,
       count(*) AS calls,
       sum(input_tokens)::BIGINT AS input_tokens,
       sum(output_tokens)::BIGINT AS output_tokens,
       bool_or(estimate) AS estimate
FROM other_billed
GROUP BY part, session_id, kind
ORDER BY session_id, kind
