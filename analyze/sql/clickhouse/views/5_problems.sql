CREATE TABLE problems AS
WITH exceeding AS (
  SELECT source, part, session_id, s.file AS file,
         count(*)::BIGINT AS "count",
         sum(-q.unlogged_tokens) AS tokens,
         sum(q.input_tokens) AS input
  FROM requests q
  JOIN sessions s USING (source, part, session_id)
  WHERE q.counts AND -q.unlogged_tokens > 2000 AND -q.unlogged_tokens > 0.25 * q.input_tokens
  GROUP BY ALL
)
SELECT part, session_id, file, line, kind, detail, "count", source, month
FROM raw_problems
WHERE (source, stem, part, session_id) IN (SELECT source, stem, part, session_id FROM selected)
UNION ALL
SELECT part, session_id, file, 0, 'content-exceeds-input',
       'the content logged for requests with ' || in_thousands(input) || ' input tokens exceeds them by ' || in_thousands(tokens)
         || ' tokens: it was not sent as logged, or the usage is wrong',
       "count", source, NULL
FROM exceeding;
