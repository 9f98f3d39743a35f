SELECT part, session_id, kind, "time", provider, model, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, estimate, line
FROM other_billed
ORDER BY part, session_id, line, kind
