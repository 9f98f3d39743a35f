-- Sessions whose log holds far more than was sent are named here: an error of
-- calibration and an unlogged clearing stay below a quarter of the input, and below
-- 2,000 tokens nothing can be told.
CREATE TABLE problems AS
WITH exceeding AS (
  SELECT q.source, q.part, q.session_id, s.file,
         count(*) AS count,
         sum(-q.unlogged_tokens) AS tokens,
         sum(q.input_tokens) AS input
  FROM requests q
  JOIN sessions s USING (source, part, session_id)
  WHERE q.counts AND -q.unlogged_tokens > 2000 AND -q.unlogged_tokens > 0.25 * q.input_tokens
  GROUP BY ALL
)
SELECT r.* EXCLUDE (stem) FROM raw_problems r JOIN selected USING (source, stem, part, session_id)
UNION ALL BY NAME
SELECT source, part, session_id, file, 0::BIGINT AS line, 'content-exceeds-input' AS kind,
       format('the content logged for requests with {:,} input tokens exceeds them by {:,} tokens: it was not sent as logged, or the usage is wrong',
              input::BIGINT, tokens::BIGINT) AS detail,
       count
FROM exceeding;
