SELECT part, session_id, kind, role, tool, call_id, label, origin, request_index, text_hash, chars, bytes, CASE WHEN sized THEN tokens END AS tokens
FROM items
ORDER BY part, session_id, item
