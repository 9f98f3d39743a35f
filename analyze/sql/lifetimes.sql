-- Lifetimes of the heaviest content
--
-- From which request to which the pieces of content that cost most were carried: one row for every stretch in which a
-- piece stood unchanged in the conversation.
--
-- Parameters: session (NULL all), limit (pieces of content)
--
-- Columns:
--   session_id        the agent's own ID
--   item              number of the piece within the session
--   chain             conversation within the session, 0 the main one
--   first_request     first request of the stretch
--   last_request      last one
--   requests          counting requests that carried it
--   tokens            raw tokens of its text there
--   carried_tokens    raw tokens over all those requests
--   billed_tokens     the same as the provider counts; NULL without usage
WITH input AS (
  SELECT count(calibrated_tokens) AS calibrated FROM requests WHERE counts
),
heaviest AS (
  SELECT part, session_id, item,
         row_number() OVER (ORDER BY CASE WHEN calibrated > 0 THEN billed_tokens ELSE carried_tokens::DOUBLE END DESC, session_id, item) AS place
  FROM carried_items
  CROSS JOIN input
  WHERE $session IS NULL OR session_id = $session
  QUALIFY place <= $limit
)
SELECT c.session_id, c.item, c.chain, c.first_request, c.last_request, c.requests,
       coalesce(c.tokens, 0) AS tokens,
       (coalesce(c.tokens, 0) * c.requests)::BIGINT AS carried_tokens,
       CASE WHEN calibrated > 0 THEN c.billed_tokens::DOUBLE END AS billed_tokens
FROM heaviest h
JOIN carried c USING (part, session_id, item)
CROSS JOIN input
WHERE c.requests > 0
ORDER BY h.place, c.chain, c.first_request, c.span
