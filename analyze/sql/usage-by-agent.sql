-- Usage by agent
--
-- What every agent and type of sub-agent cost. Every response is counted once, in the session that owns it. Usage that a
-- log reports for a session as a whole stands beside its requests.
--
-- Columns:
--   agent    log format, then / and the type of a sub-agent
--   sessions              sessions with at least one request that counts
--   requests              model calls
--   input_tokens          tokens sent: uncached + cache read + cache write
--   cache_read_tokens     tokens read from the prompt cache
--   cache_write_tokens    tokens written to the prompt cache
--   output_tokens         tokens produced, reasoning included
--   cost_usd              USD; requests without a known price are left out
--   cost_partial          some answered requests have no known price
SELECT s.source || coalesce('/' || s.agent, '') AS agent,
       count(DISTINCT (r.part, r.session_id)) AS sessions,
       sum(r.requests)::BIGINT AS requests,
       sum(r.input_tokens)::BIGINT AS input_tokens,
       sum(r.cache_read_tokens)::BIGINT AS cache_read_tokens,
       sum(r.cache_write_tokens)::BIGINT AS cache_write_tokens,
       sum(r.output_tokens)::BIGINT AS output_tokens,
       sum(r.cost_usd)::DOUBLE AS cost_usd,
       bool_or(r.unpriced) AS cost_partial
FROM usage_rows r
JOIN sessions s USING (part, session_id)
GROUP BY 1
ORDER BY 4 DESC NULLS LAST, 1
