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
  SELECT source, session_id, coalesce(k.basis, 'inherited') AS basis,
         CASE WHEN k.basis IS NULL THEN coalesce(s.forked_from, s.parent_session_id) ELSE k.owner_session_id END AS owner_session_id,
         coalesce(k.owner_source, r.source) AS owner_source
  FROM requests r
  JOIN sessions s USING (source, part, session_id)
  LEFT JOIN copied_requests k USING (source, session_id, request_index)
  WHERE NOT r.counts
),
answer AS (
  SELECT session_id, source, basis, owner_session_id, owner_source, count(*)::BIGINT AS requests
  FROM copies
  GROUP BY ALL
  UNION ALL
  SELECT session_id, source, 'session', owner_session_id, owner_source, own_requests::BIGINT
  FROM converted_sessions
  WHERE (owner_source, owner_session_id) IN (SELECT (source, session_id) FROM sessions)
)
SELECT session_id, source, basis, owner_session_id, owner_source, requests
FROM answer
ORDER BY source, session_id, basis, owner_source, owner_session_id
