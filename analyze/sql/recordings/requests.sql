SELECT part, session_id, response_id, chain, request, kind, run, attempt, NOT counts AS inherited, base_request_index,
       "time", duration_ms, ttft_ms, provider, model, status,
       input_tokens, cache_read_tokens, cache_write_tokens, cache_write_5m_tokens, cache_write_1h_tokens, output_tokens, reasoning_tokens,
       output_final, subscription, logged_usd, messages, prompt_chars, line
FROM requests
ORDER BY part, session_id, request_index
