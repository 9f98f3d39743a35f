-- Usage by kind of request
--
-- What the main agents' own turns cost, what sub-agents did, and what else was asked of a model: compactions, titles
-- and summaries, other side calls, cache warm-ups. Every response is counted once, in the session that owns it. Calls
-- whose content no log holds are in other-billed, and usage that a log reports for a session as a whole is in no kind.
--
-- Columns:
--   kind                  turn: the main agent; sub-agent; compaction; title; helper; warm-up
--   sessions              sessions with at least one such request that counts
--   requests              model calls
--   answered_requests     those with a logged response
--   input_tokens          tokens sent: uncached + cache read + cache write
--   cache_read_tokens     tokens read from the prompt cache
--   cache_write_tokens    tokens written to the prompt cache
--   output_tokens         tokens produced, reasoning included
--   cost_usd              USD; requests without a known price are left out
--   cost_partial          some answered requests have no known price
SELECT CASE
         WHEN r.kind = 'turn' AND s.agent IS DISTINCT FROM 'continuation' AND (s.agent IS NOT NULL OR t.parent_session_id IS NOT NULL) THEN 'sub-agent'
         ELSE r.kind
       END AS kind,
       count(DISTINCT (r.source, r.part, r.session_id)) AS sessions,
       count(*) AS requests,
       count(*) FILTER (WHERE r.status = 'answered') AS answered_requests,
       sum(r.input_tokens)::BIGINT AS input_tokens,
       sum(r.cache_read_tokens)::BIGINT AS cache_read_tokens,
       sum(r.cache_write_tokens)::BIGINT AS cache_write_tokens,
       sum(r.output_tokens)::BIGINT AS output_tokens,
       sum(r.cost_usd)::DOUBLE AS cost_usd,
       count(*) FILTER (WHERE r.status = 'answered' AND r.cost_usd IS NULL) > 0 AS cost_partial
FROM requests r
JOIN sessions s USING (source, part, session_id)
LEFT JOIN session_tree t USING (source, session_id)
WHERE r.counts
GROUP BY 1
ORDER BY 5 DESC NULLS LAST, requests DESC, 1
