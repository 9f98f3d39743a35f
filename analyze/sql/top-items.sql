-- Content that cost most by being carried
--
-- Single pieces of content, most expensive first: their size times the requests that carried them, as the provider
-- counts where it reported usage.
--
-- Parameters: session (NULL all), limit
--
-- Columns:
--   session_id        the agent's own ID
--   item              number of the piece within the session
--   kind              kind of content
--   tool              tool of a call or result
--   what              path or command of its call
--   tokens            raw tokens of its largest text
--   requests          counting requests that carried it
--   first_request     first request of its chain that carried it
--   last_request      last one
--   carried_tokens    raw tokens over all those requests
--   billed_tokens     the same as the provider counts; NULL without usage
--   share             of all input tokens, 0 to 1
WITH about AS (
  SELECT part, session_id, item, any_value(coalesce(path, command)) AS what
  FROM (
    SELECT part, session_id, args_item AS item, path, command FROM calls WHERE args_item IS NOT NULL
    UNION ALL
    SELECT part, session_id, result_item, path, command FROM calls WHERE result_item IS NOT NULL
  )
  GROUP BY ALL
),
input AS (
  SELECT sum(input_tokens) AS input_tokens, count(calibrated_tokens) AS calibrated FROM requests WHERE counts
)
SELECT c.session_id, c.item, c.kind, c.tool, a.what, c.tokens, c.requests, c.first_request, c.last_request,
       c.carried_tokens,
       CASE WHEN calibrated > 0 THEN c.billed_tokens::DOUBLE END AS billed_tokens,
       CASE WHEN calibrated > 0 THEN c.billed_tokens / nullif(input_tokens, 0) END AS share
FROM carried_items c
LEFT JOIN about a USING (part, session_id, item)
CROSS JOIN input
WHERE $session IS NULL OR c.session_id = $session
ORDER BY CASE WHEN calibrated > 0 THEN c.billed_tokens ELSE c.carried_tokens::DOUBLE END DESC, c.session_id, c.item
LIMIT $limit
