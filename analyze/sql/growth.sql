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
--   event                compaction, run (first request of a run), cache-break, or NULL
SELECT session_id, chain, request, run, "time", input_tokens,
       input_tokens - prev_input_tokens AS growth,
       cache_read_tokens, output_tokens,
       CASE WHEN compacted THEN 'compaction'
            WHEN prev_run IS DISTINCT FROM run THEN 'run'
            WHEN cause IS NOT NULL THEN 'cache-break'
       END AS event
FROM steps
WHERE $session IS NULL OR session_id = $session
ORDER BY session_id, chain, request
