-- Every reference leads to a row
--
-- Requests to the request whose payload they send again; items to the request that produced them; spans to their
-- item and to the first and last request that carried them; calls to their request, arguments, result, and the
-- calls they repeat.
--
-- Do: import the log again into a new dataset; where a file of the part is damaged or missing, that is the cause
WITH links AS (
  SELECT file, place, part, session_id, 'base request' AS link, 'requests' AS target, base_request_index AS n FROM requests
  UNION ALL SELECT file, place, part, session_id, 'request that produced it', 'requests', request_index FROM items
  UNION ALL SELECT file, place, part, session_id, 'item', 'items', item FROM spans
  UNION ALL SELECT file, place, part, session_id, 'request', 'requests', request_index FROM calls
  UNION ALL SELECT file, place, part, session_id, 'item of its arguments', 'items', args_item FROM calls
  UNION ALL SELECT file, place, part, session_id, 'item of its result', 'items', result_item FROM calls
  UNION ALL SELECT file, place, part, session_id, 'call it repeats', 'calls', repeat_of FROM calls
  UNION ALL SELECT file, place, part, session_id, 'call it strictly repeats', 'calls', strict_repeat_of FROM calls
),
targets AS (
  SELECT 'requests' AS target, place, part, session_id, request_index AS n FROM requests
  UNION ALL SELECT 'items', place, part, session_id, item FROM items
  UNION ALL SELECT 'calls', place, part, session_id, call FROM calls
),
ends AS (
  SELECT file, place, part, session_id, chain, first_request AS request FROM spans
  UNION ALL SELECT file, place, part, session_id, chain, last_request FROM spans
)
SELECT l.file, l.session_id, 'the ' || l.link || ' does not exist' AS detail, count(*) AS count
FROM links l
ANTI JOIN targets t USING (place, part, session_id, target, n)
WHERE l.n IS NOT NULL
GROUP BY ALL
UNION ALL
SELECT e.file, e.session_id, 'the first or last request that carried it does not exist', count(*)
FROM ends e
ANTI JOIN requests r USING (place, part, session_id, chain, request)
GROUP BY ALL
UNION ALL
SELECT file, session_id, 'carried from a later request to an earlier one', count(*)
FROM spans
WHERE first_request > last_request
GROUP BY ALL
