SELECT part, session_id, item, chain, first_request, last_request, position, text_hash, chars, bytes, CASE WHEN sized THEN tokens END AS tokens
FROM spans
ORDER BY part, session_id, span
