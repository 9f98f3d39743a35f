-- Sessions
--
-- The sessions of the dataset with where they come from, oldest first.
--
-- Columns:
--   session_id           the agent's own ID
--   source               log format
--   agent_version        newest version the log names
--   agent                type of a sub-agent; NULL for a main session
--   parent_session_id    session that started this one
--   forked_from          session whose history this one copied
--   models               models of the answered requests, most used first
--   started_at           first time stamp of the log
--   ended_at             last time stamp of the log
--   cwd                  working directory of the agent
--   file                 path it was imported from
--   encoding             tokenizer behind every token count
--   public_encoding      it is the model's own
--   has_text             false: imported without texts
SELECT session_id, source, agent_version, agent, parent_session_id, forked_from, models,
       started_at, ended_at, cwd, file, encoding, public_encoding, has_text
FROM sessions
ORDER BY started_at NULLS LAST, session_id
