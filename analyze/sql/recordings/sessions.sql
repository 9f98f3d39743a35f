SELECT part, session_id, source, agent_version, agent, parent_session_id, parent_call_id, forked_from, spawned_at,
       started_at, ended_at, cwd, file, records, to_json(missing)::VARCHAR AS missing, has_text, coalesce(front_moves, false) AS front_moves
FROM sessions
ORDER BY started_at NULLS LAST, source, session_id
