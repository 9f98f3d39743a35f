-- Copies
--
-- Requests that the sessions hold and that do not count there, because another session owns the response: history that
-- was copied into a resumed or forked session, and captured bodies or trajectories of what an agent logged itself.
--
-- Columns:
--   session_id         session that holds the copies
--   source             its log format
--   basis              how that is known: inherited: the log says so; history: the same response ID in logs of one format; response: the same response ID in logs of two; usage: the same usage at the same time in logs of two; session: a trajectory with the ID of a session that was read, of which nothing is shown
--   owner_session_id   session that owns the responses; NULL unknown
--   owner_source       its log format
--   requests           how many
WITH copies AS (
  SELECT r.source, r.session_id, coalesce(k.basis, 'inherited') AS basis,
         CASE WHEN k.basis IS NULL THEN coalesce(s.forked_from, s.parent_session_id) ELSE k.owner_session_id END AS owner_session_id,
         coalesce(k.owner_source, r.source) AS owner_source
  FROM requests r
  JOIN sessions s USING (source, part, session_id)
  LEFT JOIN copied_requests k USING (source, session_id, request_index)
  WHERE NOT r.counts
)
SELECT session_id, source, basis, owner_session_id, owner_source, count(*) AS requests
FROM copies
GROUP BY ALL
UNION ALL
SELECT c.session_id, c.source, 'session', c.owner_session_id, c.owner_source, c.own_requests
FROM converted_sessions c
SEMI JOIN sessions s ON s.source = c.owner_source AND s.session_id = c.owner_session_id
ORDER BY source, session_id, basis, owner_source, owner_session_id
