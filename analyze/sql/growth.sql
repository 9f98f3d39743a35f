-- Growth per request
--
-- How the input grew from request to request along each chain, and what happened where it fell.
--
-- Parameters: session (NULL all)
--
-- Columns:
--   session_id           the agent's own ID
--   chain                conversation within the session, 0 the main one
--   request              number along the chain
--   run                  run of the session
--   time                 when it was sent
--   input_tokens         tokens sent
--   growth               more than the request before it, in tokens; NULL for the first of a chain
--   cache_read_tokens    tokens read from the prompt cache
--   output_tokens        tokens produced
--   event                the first of events, or NULL
--   events               all that happened: compaction, cache-break, run (first request of a run)
WITH marked AS (
  SELECT *,
         known([
           CASE WHEN compacted THEN 'compaction' END,
           CASE WHEN cause IS NOT NULL THEN 'cache-break' END,
           CASE WHEN prev_run IS DISTINCT FROM run THEN 'run' END
         ]) AS events
  FROM steps
)
SELECT session_id, chain, request, run, "time", input_tokens,
       input_tokens - prev_input_tokens AS growth,
       cache_read_tokens, output_tokens,
       events[1] AS event, events
FROM marked
WHERE $session IS NULL OR session_id = $session
ORDER BY session_id, chain, request
