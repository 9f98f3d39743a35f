-- Composition of every request
--
-- How many raw tokens of each kind of content every request carried. Computed from the requests where content
-- began and ended, never from a list of all content of all requests. A request that sent another request's whole
-- payload again shows the kinds of that payload too.
--
-- Parameters: session (NULL all)
--
-- Columns:
--   session_id    the agent's own ID
--   chain         conversation within the session, 0 the main one
--   request       number along the chain
--   kind          kind of content, or framing, or unlogged
--   tokens        raw tokens carried; provider tokens for framing and unlogged
WITH RECURSIVE changes AS (
  SELECT part, session_id, chain, request, kind, sum(tokens) AS tokens
  FROM (
    SELECT s.part, s.session_id, s.chain, s.first_request AS request, i.kind, coalesce(s.tokens, 0) AS tokens
    FROM spans s JOIN items i USING (part, session_id, item)
    UNION ALL
    SELECT s.part, s.session_id, s.chain, s.last_request + 1, i.kind, -coalesce(s.tokens, 0)
    FROM spans s JOIN items i USING (part, session_id, item)
  )
  GROUP BY ALL
),
levels AS (
  SELECT part, session_id, chain, request, kind,
         sum(tokens) OVER (PARTITION BY part, session_id, chain, kind ORDER BY request) AS tokens
  FROM changes
),
payload_of(part, session_id, request_index, source_index) AS (
  SELECT part, session_id, request_index, request_index FROM requests
  WHERE counts AND ($session IS NULL OR session_id = $session)
  UNION ALL
  SELECT p.part, p.session_id, p.request_index, r.base_request_index
  FROM payload_of p
  JOIN requests r ON r.part = p.part AND r.session_id = p.session_id AND r.request_index = p.source_index
  WHERE r.base_request_index IS NOT NULL
),
sources AS (
  SELECT p.part AS part, p.session_id AS session_id, p.request_index AS request_index, r.chain AS chain, r.request AS request, k.kind AS kind
  FROM payload_of p
  JOIN requests r ON r.part = p.part AND r.session_id = p.session_id AND r.request_index = p.source_index
  JOIN (SELECT DISTINCT part, session_id, chain, kind FROM changes) k
    ON k.part = r.part AND k.session_id = r.session_id AND k.chain = r.chain
),
content AS (
  SELECT s.part AS part, s.session_id AS session_id, s.request_index AS request_index, s.kind AS kind, sum(l.tokens)::BIGINT AS tokens
  FROM sources s
  ASOF JOIN levels l
    ON l.part = s.part AND l.session_id = s.session_id AND l.chain = s.chain AND l.kind = s.kind AND l.request <= s.request
  GROUP BY ALL
),
parts AS (
  SELECT * FROM content WHERE tokens <> 0
  UNION ALL
  SELECT part, session_id, request_index, 'framing', framing_tokens FROM requests WHERE counts AND framing_tokens IS NOT NULL
  UNION ALL
  SELECT part, session_id, request_index, 'unlogged', unlogged_tokens FROM requests WHERE counts AND unlogged_tokens IS NOT NULL
)
SELECT p.session_id, r.chain, r.request, p.kind, p.tokens
FROM parts p
JOIN requests r USING (part, session_id, request_index)
WHERE $session IS NULL OR p.session_id = $session
ORDER BY p.session_id, r.chain, r.request, p.kind
