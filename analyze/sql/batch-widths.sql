-- Batch widths
--
-- How many tool calls the responses asked for at once, per session. Wide batches of read-only calls are what keeps
-- the number of requests down.
--
-- Columns:
--   session_id             the agent's own ID
--   width                  calls in one response
--   responses              responses with that many calls
--   read_only_responses    those in which every call was read-only
--   calls                  calls in those responses
WITH responses AS (
  SELECT part, session_id, request_index, count(*) AS width, bool_and(read_only) AS read_only
  FROM calls
  WHERE counts AND request_index IS NOT NULL
  GROUP BY ALL
)
SELECT session_id, width,
       count(*) AS responses,
       count(*) FILTER (WHERE read_only) AS read_only_responses,
       sum(width)::BIGINT AS calls
FROM responses
GROUP BY part, session_id, width
ORDER BY session_id, width
