SELECT part, session_id, model, requests, input_tokens, cache_read_tokens, cache_write_tokens, cache_write_5m_tokens, cache_write_1h_tokens,
       output_tokens, reasoning_tokens, cost_usd, line
FROM reported
ORDER BY part, session_id, line, model
