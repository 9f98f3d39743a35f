SELECT part, session_id, request_index, call_id, tool, class, coalesce(args, '') AS args, args_item, result_item, command, path, "range",
       read_only, mutates, ran, denied, failed, NOT counts AS inherited, "time", duration_ms, task, starts_task, poll, truncated, handle, recovers,
       parent_call_id, child_session, line, full_hash
FROM calls
ORDER BY part, session_id, call
