-- Sub-agent sessions left out
--
-- Calls that started a sub-agent, ran and did not fail, whose session is not in the dataset. Their cost is in no
-- total. Which session a call started is taken from session_tree where neither names the other.
--
-- Columns:
--   session_id       session that started it
--   call             the call
--   tool             tool
--   child_session    session ID of the sub-agent, where the log names it
--   time             when it was started
WITH present AS (
  SELECT t.source, t.parent_session_id, t.parent_call_id
  FROM session_tree t
  SEMI JOIN sessions s USING (source, session_id)
)
SELECT c.session_id, c.call, c.tool, c.child_session, c."time" AS time
FROM calls c
ANTI JOIN sessions n ON n.source = c.source AND n.session_id = c.child_session
ANTI JOIN present p ON p.source = c.source AND p.parent_session_id = c.session_id AND p.parent_call_id = c.call_id
WHERE c.counts AND c.ran AND c.class = 'agent' AND c.failed IS NOT TRUE
ORDER BY c.session_id, c.call
