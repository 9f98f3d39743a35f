-- Sub-agent sessions left out
--
-- Sub-agent sessions whose cost is in no total: those whose log was not read, known by a call that started one, ran
-- and did not fail, and those that were read but do not meet the conditions of the selection, with the sub-agents
-- below them. Which session a call started is taken from session_tree where neither names the other.
--
-- Columns:
--   session_id       session that started it
--   call             the call
--   tool             tool
--   child_session    session ID of the sub-agent, where it is known
--   time             when it was started
--   why              not-read or deselected
WITH RECURSIVE present AS (
  SELECT source, t.parent_session_id, t.parent_call_id
  FROM session_tree t
  SEMI JOIN read_sessions s USING (source, session_id)
),
-- The bound only matters for logs whose sessions name each other as parents.
deeper AS (
  SELECT source, session_id, parent_session_id, parent_call_id, 0::BIGINT AS depth
  FROM session_tree
  WHERE (source, parent_session_id) IN (SELECT (source, session_id) FROM sessions)
  UNION ALL
  SELECT t.source, t.session_id, t.parent_session_id, t.parent_call_id, b.depth + 1
  FROM session_tree t
  JOIN deeper b ON b.source = t.source AND b.session_id = t.parent_session_id
  WHERE b.depth < 100 AND (t.source, t.parent_session_id) NOT IN (SELECT (source, session_id) FROM sessions)
),
below AS (
  SELECT DISTINCT source, session_id, parent_session_id, parent_call_id FROM deeper
),
left_out AS (
  SELECT c.session_id AS session_id, c.call AS call, c.tool AS tool, c.child_session, c."time" AS "time", 'not-read' AS why
  FROM calls c
  ANTI JOIN read_sessions n ON n.source = c.source AND n.session_id = c.child_session
  ANTI JOIN present p ON p.source = c.source AND p.parent_session_id = c.session_id AND p.parent_call_id = c.call_id
  WHERE c.counts AND c.ran AND c.class = 'agent' AND c.failed IS NOT TRUE
  UNION ALL
  SELECT b.parent_session_id, c.call, c.tool, b.session_id, coalesce(c."time", s.started_at), 'deselected'
  FROM below b
  JOIN current_parts s USING (source, session_id)
  SEMI JOIN read_sessions r USING (source, session_id)
  ANTI JOIN sessions n ON n.source = b.source AND n.session_id = b.session_id
  LEFT JOIN calls c ON c.source = b.source AND c.session_id = b.parent_session_id AND c.call_id = b.parent_call_id
)
SELECT session_id, call, tool, child_session, "time" AS time, why
FROM left_out
ORDER BY why DESC, session_id, call, child_session
