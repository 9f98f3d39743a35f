-- Sessions
--
-- The sessions of the dataset with where they come from, oldest first.
--
-- Columns:
--   session_id           the agent's own ID
--   source               log format
--   agent_version        newest version the log names
--   agent                type of a sub-agent; NULL for a main session
--   parent_session_id    session that started this one, as logged or found by its agent calls
--   forked_from          session whose history this one copied
--   models               models of the answered requests, most used first
--   started_at           first time stamp of the log
--   ended_at             last time stamp of the log
--   cwd                  working directory of the agent
--   file                 path it was imported from
--   encoding             tokenizer behind every token count
--   public_encoding      it is the model's own
--   has_text             false: imported without texts
SELECT s.session_id, s.source, s.agent_version, s.agent, t.parent_session_id, s.forked_from, s.models,
       s.started_at, s.ended_at, s.cwd, s.file, s.encoding, s.public_encoding, s.has_text
FROM sessions s
LEFT JOIN session_tree t USING (source, session_id)
ORDER BY s.started_at NULLS LAST, s.source, s.session_id
