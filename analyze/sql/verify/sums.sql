-- What was carried adds up
--
-- Over the requests of a session that are not copied from another one, the tokens of all spans, each times the
-- requests that carried it, are the tokens counted for the requests.
--
-- Do: import the log again into a new dataset, and report a bug: the importer writes no such sums
WITH carried AS (
  SELECT place, part, session_id, sum(coalesce(tokens, 0)::HUGEINT * requests) AS tokens FROM spans GROUP BY ALL
),
counted AS (
  SELECT place, part, session_id, sum(counted_tokens::HUGEINT) AS tokens FROM requests WHERE NOT inherited GROUP BY ALL
)
SELECT s.file, s.session_id,
       'spans carried ' || coalesce(c.tokens, 0) || ' tokens, requests counted ' || coalesce(r.tokens, 0) AS detail,
       1 AS count
FROM sessions s
LEFT JOIN carried c USING (place, part, session_id)
LEFT JOIN counted r USING (place, part, session_id)
WHERE coalesce(c.tokens, 0) <> coalesce(r.tokens, 0)
