-- Every request with what happened at it
--
-- What a picture of a session needs of every counting request: its size, what it read from the prompt cache and
-- could have read, and whether a compaction, a cache break, a new run or a mere poll happened there.
--
-- Parameters: session (NULL all)
--
-- Columns:
--   session_id           the agent's own ID
--   chain                conversation within the session, 0 the main one
--   request              number along the chain
--   run                  run of the session
--   kind                 turn, compaction, title, helper, warm-up
--   input_tokens         tokens sent; NULL without usage
--   counted_tokens       raw tokens of the logged content it carried
--   calibrated_tokens    the same as the provider counts; NULL without usage
--   output_tokens        tokens produced; NULL without usage
--   cache_read_tokens    tokens read from the prompt cache; NULL not reported
--   readable_tokens      what the cache could have held: all that the previous request had sent, at most this one's
--                        input; NULL for the first of a chain
--   lost_tokens          previous input - cache read, where that is a loss
--   cause                what ended the cached prefix; NULL nothing did
--   compacted            the conversation was summarised or mostly dropped
--   new_run              the first request of a run
--   polled               its response only asked for the state of background work
WITH polls AS (
  SELECT part, session_id, request_index
  FROM calls
  WHERE counts AND request_index IS NOT NULL
  GROUP BY ALL
  HAVING bool_and(poll IS NOT NULL)
)
SELECT r.session_id, r.chain, r.request, r.run, r.kind,
       r.input_tokens, r.counted_tokens, r.calibrated_tokens, r.output_tokens, r.cache_read_tokens,
       least(s.prev_input_tokens, s.input_tokens) AS readable_tokens,
       CASE WHEN s.cause IS NOT NULL THEN s.lost_tokens END AS lost_tokens,
       s.cause,
       coalesce(s.compacted, false) AS compacted,
       s.request IS NOT NULL AND s.prev_run IS DISTINCT FROM s.run AS new_run,
       p.request_index IS NOT NULL AS polled
FROM requests r
LEFT JOIN steps s USING (part, session_id, request_index)
LEFT JOIN polls p USING (part, session_id, request_index)
WHERE r.counts AND ($session IS NULL OR r.session_id = $session)
ORDER BY r.session_id, r.chain, r.request
