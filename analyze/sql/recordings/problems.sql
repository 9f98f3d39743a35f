SELECT part, session_id, file, line, kind, detail, count
FROM problems
ORDER BY part, session_id, file, line, kind
