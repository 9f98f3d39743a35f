-- Totals per session
--
-- What each session cost by itself: requests, tokens by how they were billed, calls and repeats. Every response
-- is counted once over the whole dataset, in the session that owns it; copied history adds nothing. A sum leaves
-- out requests whose value is unknown and is NULL where none is known. Where no request of a session has an input,
-- its sums are those that the log reports for the session as a whole, if it does; output and reasoning stay
-- those of the requests where every answered one has an output.
--
-- Columns:
--   session_id               the agent's own ID
--   source                   log format
--   started_at               first time stamp of the log
--   runs                     runs with at least one request that counts
--   requests                 model calls, failed and repeated attempts included
--   answered_requests        those with a logged response
--   input_tokens             tokens sent: uncached + cache read + cache write
--   uncached_input_tokens    tokens neither read from nor written to the prompt cache
--   cache_read_tokens        tokens read from the prompt cache
--   cache_write_tokens       tokens written to the prompt cache
--   output_tokens            tokens produced, reasoning included
--   reasoning_tokens         part of output_tokens
--   cost_usd                 USD; requests without a known price are left out
--   cost_partial             some answered requests have no known price
--   counted_tokens           raw count of the logged content that the requests carried
--   framing_tokens           provider tokens of messages and calls that belong to no text
--   unlogged_tokens          provider tokens that neither logged content nor framing explain
--   peak_input_tokens        largest input of one request
--   calls                    tool calls that ran
--   repeated_calls           calls with the tool and arguments of an earlier one (FreeCode's repeatedCalls)
--   repeated_calls_strict    calls whose result nothing in between could have changed
--   non_final_outputs        answered requests whose output_tokens is a snapshot, not the final figure
--   calibrated_tokens        provider tokens of the logged content; calibrated + framing + unlogged = input
--   requests_without_usage   answered requests without a logged input that no sum of input tokens holds
--   requests_without_output  answered requests without a logged output that no sum of output tokens holds
--   usage_basis              requests: sums over requests; session: what the log reports for the session as a whole, no input per request; NULL no usage
--   logged_cost_usd          part of cost_usd that the log itself says, not computed from prices; NULL none
--   unreported_output_tokens  raw count of what the responses behind non_final_outputs said beyond their snapshots: output_tokens lacks about that; NULL no snapshot
WITH sums AS (
  SELECT part, session_id,
         count(DISTINCT run) AS runs,
         count(*) AS requests,
         count(*) FILTER (WHERE status = 'answered') AS answered_requests,
         sum(input_tokens) AS input_tokens,
         sum(input_tokens - coalesce(cache_read_tokens, 0) - coalesce(cache_write_tokens, 0)) AS uncached_input_tokens,
         sum(cache_read_tokens) AS cache_read_tokens,
         sum(cache_write_tokens) AS cache_write_tokens,
         sum(output_tokens) AS output_tokens,
         sum(reasoning_tokens) AS reasoning_tokens,
         sum(cost_usd) AS cost_usd,
         count(*) FILTER (WHERE status = 'answered' AND cost_usd IS NULL) > 0 AS cost_partial,
         sum(counted_tokens) AS counted_tokens,
         sum(framing_tokens) AS framing_tokens,
         sum(unlogged_tokens) AS unlogged_tokens,
         max(input_tokens) AS peak_input_tokens,
         count(*) FILTER (WHERE status = 'answered' AND output_tokens IS NOT NULL AND NOT output_final) AS non_final_outputs,
         sum(calibrated_tokens) AS calibrated_tokens,
         count(*) FILTER (WHERE status = 'answered' AND input_tokens IS NULL) AS requests_without_usage,
         count(*) FILTER (WHERE status = 'answered' AND output_tokens IS NULL) AS requests_without_output,
         sum(cost_usd) FILTER (WHERE cost_basis = 'logged') AS logged_cost_usd
  FROM requests
  WHERE counts
  GROUP BY ALL
),
call_sums AS (
  SELECT part, session_id,
         count(*) FILTER (WHERE ran) AS calls,
         count(repeat_of) AS repeated_calls,
         count(strict_repeat_of) AS repeated_calls_strict
  FROM calls
  WHERE counts
  GROUP BY ALL
),
said AS (
  SELECT part, session_id, request_index, sum(tokens) AS tokens
  FROM items
  WHERE request_index IS NOT NULL
  GROUP BY ALL
),
beyond AS (
  SELECT q.part AS part, q.session_id AS session_id, sum(greatest(coalesce(i.tokens, 0) - q.output_tokens, 0)) AS tokens
  FROM requests q
  LEFT JOIN said i USING (part, session_id, request_index)
  WHERE q.counts AND q.status = 'answered' AND q.output_tokens IS NOT NULL AND NOT q.output_final
  GROUP BY ALL
)
SELECT s.session_id, s.source, s.started_at,
       coalesce(t.runs, 0) AS runs,
       coalesce(t.requests, 0) AS requests,
       coalesce(t.answered_requests, 0) AS answered_requests,
       coalesce(t.input_tokens, w.input_tokens)::BIGINT AS input_tokens,
       coalesce(t.uncached_input_tokens, w.uncached_input_tokens)::BIGINT AS uncached_input_tokens,
       coalesce(t.cache_read_tokens, w.cache_read_tokens)::BIGINT AS cache_read_tokens,
       coalesce(t.cache_write_tokens, w.cache_write_tokens)::BIGINT AS cache_write_tokens,
       (CASE WHEN w.outputs_of_requests THEN t.output_tokens ELSE coalesce(w.output_tokens, t.output_tokens) END)::BIGINT AS output_tokens,
       (CASE WHEN w.outputs_of_requests AND t.reasoning_tokens IS NOT NULL THEN t.reasoning_tokens ELSE coalesce(w.reasoning_tokens, t.reasoning_tokens) END)::BIGINT AS reasoning_tokens,
       coalesce(t.cost_usd, w.cost_usd)::DOUBLE AS cost_usd,
       coalesce(CASE WHEN t.cost_usd IS NULL THEN w.cost_partial END, t.cost_partial, false) AS cost_partial,
       coalesce(t.counted_tokens, 0)::BIGINT AS counted_tokens,
       t.framing_tokens::BIGINT AS framing_tokens,
       t.unlogged_tokens::BIGINT AS unlogged_tokens,
       t.peak_input_tokens,
       coalesce(c.calls, 0) AS calls,
       coalesce(c.repeated_calls, 0) AS repeated_calls,
       coalesce(c.repeated_calls_strict, 0) AS repeated_calls_strict,
       coalesce(t.non_final_outputs, 0) AS non_final_outputs,
       t.calibrated_tokens::BIGINT AS calibrated_tokens,
       CASE WHEN w.input_tokens IS NULL THEN coalesce(t.requests_without_usage, 0) ELSE 0 END AS requests_without_usage,
       CASE WHEN w.output_tokens IS NULL THEN coalesce(t.requests_without_output, 0) ELSE 0 END AS requests_without_output,
       CASE WHEN w.session_id IS NOT NULL THEN 'session' WHEN t.input_tokens IS NOT NULL OR t.output_tokens IS NOT NULL THEN 'requests' END AS usage_basis,
       CASE WHEN t.cost_usd IS NULL THEN w.logged_cost_usd ELSE t.logged_cost_usd END::DOUBLE AS logged_cost_usd,
       b.tokens::BIGINT AS unreported_output_tokens
FROM sessions s
LEFT JOIN sums t USING (part, session_id)
LEFT JOIN whole_usage w USING (source, part, session_id)
LEFT JOIN call_sums c USING (part, session_id)
LEFT JOIN beyond b USING (part, session_id)
ORDER BY s.started_at NULLS LAST, s.source, s.session_id
