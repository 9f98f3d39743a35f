-- Problems found while reading
--
-- What the importer could not read or reconcile.
--
-- Columns:
--   session_id    the agent's own ID
--   file          log file
--   line          line of that file; 0 the whole file
--   kind          short and stable name
--   detail        one sentence
--   count         how often, where equal problems were folded
SELECT session_id, file, line, kind, detail, "count" AS count
FROM problems
ORDER BY file, line, kind, detail, session_id
