-- Requests and what is not in their parts
--
-- Every request with its figures, to go with the stretches of payload.
--
-- Parameters: session (NULL all)
--
-- Columns:
--   part                  part of the dataset
--   session_id            the agent's own ID
--   request_index         number over the session, from 0
--   base_request_index    request whose whole payload this one sends again; NULL none
--   counts                its response is owned by this session
--   chain                 conversation within the session, 0 the main one
--   request               number along the chain
--   kind                  turn, compaction, title, helper, warm-up
--   time                  when it was sent
--   model                 model as logged; NULL unknown
--   input_tokens          tokens sent, as reported
--   counted_tokens        raw tokens of its logged parts
--   framing_tokens        provider tokens of messages and calls that belong to no text
--   unlogged_tokens       provider tokens that nothing logged explains
--   constant_tokens       part of those that goes out with every turn, estimated; without usage too; NULL where nothing tells
--   constant_low          lower bound of constant_tokens
--   constant_high         upper bound of constant_tokens
--   constant_method       what constant_tokens was taken from: log, first-request, cache-reads, calibration, totals
SELECT part, session_id, request_index, base_request_index, counts, chain, request, kind, "time" AS time, model,
       input_tokens, counted_tokens, framing_tokens, unlogged_tokens,
       constant_tokens, constant_low, constant_high, constant_method
FROM requests
WHERE $session IS NULL OR session_id = $session
ORDER BY part, session_id, request_index
