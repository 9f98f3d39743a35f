-- No row stands twice
--
-- Numbers of requests, items, spans and calls run from 0 without gaps; requests of a chain, IDs of calls and
-- hashes of texts come once in a session, and a session once in a part.
--
-- Do: import the log again into a new dataset, and report a bug: the importer writes no such rows
WITH numbered AS (
  SELECT file, part, session_id, request_index AS n FROM requests
  UNION ALL SELECT file, part, session_id, item FROM items
  UNION ALL SELECT file, part, session_id, span FROM spans
  UNION ALL SELECT file, part, session_id, call FROM calls
)
SELECT file, session_id, 'numbers that come twice or are left out' AS detail,
       abs(count(*) - count(DISTINCT n)) + abs(max(n) + 1 - count(DISTINCT n)) + count(*) FILTER (WHERE n < 0) AS count
FROM numbered
GROUP BY file, part, session_id
HAVING count(*) <> count(DISTINCT n) OR max(n) + 1 <> count(DISTINCT n) OR min(n) < 0
UNION ALL
SELECT file, session_id, 'requests with one number in a chain', count(*) - count(DISTINCT (chain, request))
FROM requests
GROUP BY file, part, session_id
HAVING count(*) <> count(DISTINCT (chain, request))
UNION ALL
SELECT file, session_id, 'calls with one ID', count(*) - count(DISTINCT call_id)
FROM calls
GROUP BY file, part, session_id
HAVING count(*) <> count(DISTINCT call_id)
UNION ALL
SELECT file, session_id, 'texts with one hash', count(*) - count(DISTINCT text_hash)
FROM texts
GROUP BY file, part, session_id
HAVING count(*) <> count(DISTINCT text_hash)
UNION ALL
SELECT file, session_id, 'sessions with one ID', count(*) - 1
FROM sessions
GROUP BY file, part, session_id
HAVING count(*) > 1
