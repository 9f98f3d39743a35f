-- Parents of sub-agents
--
-- Which session started which, over the whole dataset, also for sessions outside the selection.
--
-- Columns:
--   source               log format
--   session_id           session of the sub-agent
--   parent_session_id    session that started it
SELECT source, session_id, parent_session_id
FROM session_tree
WHERE parent_session_id IS NOT NULL
ORDER BY source, session_id
