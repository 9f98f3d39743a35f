-- Cache breaks
--
-- Requests whose cached prefix ended well before the end of the previous request of the same chain, and why. The
-- causes are looked for in this order: compaction (the conversation was summarised or mostly dropped), model-changed,
-- lifetime (more than 5 minutes since the previous request, or an hour where the session writes the 1 h cache),
-- run-border (first request of a run), block-before-conversation (logged content in front of the conversation
-- changed, or the log lacks such blocks and the cache read falls into the unlogged part in front), content-changed
-- (a part of the conversation was pruned, cleared or rewritten), unknown. Losses up to 256 tokens, and up to 1,280 where
-- no cause is in sight, are the rounding of the provider's cache and left out.
--
-- Columns:
--   session_id            the agent's own ID
--   chain                 conversation within the session, 0 the main one
--   request               number along the chain
--   run                   run of the session
--   time                  when it was sent
--   cause                 what ended the cached prefix
--   prev_input_tokens     input of the previous request
--   input_tokens          input of this one
--   cache_read_tokens     tokens read from the prompt cache
--   lost_tokens           previous input - cache read
--   resent_tokens         the part of lost_tokens that this request sent again
--   gap_s                 seconds since the previous request
SELECT session_id, chain, request, run, "time", cause, prev_input_tokens, input_tokens, cache_read_tokens,
       lost_tokens, resent_tokens, gap_s
FROM steps
WHERE cause IS NOT NULL
ORDER BY session_id, chain, request
