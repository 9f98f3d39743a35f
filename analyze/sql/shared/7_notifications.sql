-- Messages that tell of the end of background work, and what inline batching could
-- take out of them. request is the first that carried the message.
--   bought     it caused that request: nothing a person wrote began there, and the
--              response before asked for nothing or belonged to another run
--   redundant  a poll before had brought the end of every task that it tells of
-- Without texts (--no-text) none is known to be redundant.
CREATE VIEW notifications AS
WITH said AS (
  SELECT x.text_hash AS text_hash, any_value(x."text") AS "text"
  FROM raw_texts x
  WHERE x.text_hash IN (SELECT text_hash FROM items WHERE kind IN ('reminder', 'user_text'))
  GROUP BY x.text_hash
),
messages AS (
  SELECT i.part AS part, i.session_id AS session_id, i.item AS item, i.kind AS kind, t.text,
         i.request_index IS NULL
           AND (coalesce(i.label = 'task_notification', false)
                OR coalesce(regexp_matches(t.text, '^\s*<(?:task-notification|subagent_notification)>'), false)) AS tells
  FROM items i
  LEFT JOIN said t USING (text_hash)
  WHERE i.kind IN ('reminder', 'user_text')
),
first_spans AS (
  SELECT part, session_id, item, min_by(chain, span) AS chain, min_by(first_request, span) AS request
  FROM spans
  GROUP BY ALL
),
begun AS (
  SELECT m.*, f.chain AS chain, f.request AS request
  FROM messages m
  JOIN first_spans f USING (part, session_id, item)
),
written AS (
  SELECT DISTINCT part, session_id, chain, request FROM begun WHERE kind = 'user_text' AND NOT tells
),
asked AS (
  SELECT part, session_id, request_index, count(*) AS calls
  FROM calls
  WHERE counts AND request_index IS NOT NULL
  GROUP BY ALL
),
turns AS (
  SELECT part, session_id, r.chain AS chain, r.request AS request, request_index, r.run AS run, r.status, r.counts, coalesce(a.calls, 0) AS calls,
         max(CASE WHEN r.status = 'answered' THEN r.request END) OVER (
           PARTITION BY r.part, r.session_id, r.chain ORDER BY r.request ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
  FROM requests r
  LEFT JOIN asked a USING (part, session_id, request_index)
),
ends AS (
  SELECT part, session_id, task, min(request_index) AS request_index
  FROM calls
  WHERE poll = 'final' AND task IS NOT NULL AND request_index IS NOT NULL
  GROUP BY ALL
),
parts AS (
  SELECT part, session_id, item, chain, request,
         unnest(string_split(regexp_replace(text, '^\s*<task-notification>', ''), '<task-notification>')) AS told
  FROM begun
  WHERE tells AND text IS NOT NULL
),
tasks AS (
  SELECT part, session_id, item, chain, request,
         coalesce(nullif(regexp_extract(told, '<task-id>\s*([^<\s]+)\s*</task-id>|"agent_id"\s*:\s*"([^"]+)"', 1), ''),
                  regexp_extract(told, '<task-id>\s*([^<\s]+)\s*</task-id>|"agent_id"\s*:\s*"([^"]+)"', 2)) AS task,
         regexp_extract(told, '<status>\s*(\w+)\s*</status>', 1) AS status
  FROM parts
),
known AS (
  SELECT t.part AS part, t.session_id AS session_id, t.item AS item,
         bool_and(t.task <> '' AND t.status NOT IN ('', 'event', 'running') AND coalesce(e.request_index < r.request_index, false)) AS redundant
  FROM tasks t
  JOIN requests r USING (part, session_id, chain, request)
  LEFT JOIN ends e ON e.part = t.part AND e.session_id = t.session_id AND e.task = t.task
  GROUP BY ALL
)
SELECT b.part AS part, b.session_id AS session_id, b.item AS item, b.chain AS chain, b.request AS request, t.request_index AS request_index, t.status AS status, t.calls AS calls,
       w.request IS NULL AND (t.before IS NULL OR p.calls = 0 OR p.run <> t.run) AS bought,
       coalesce(k.redundant, false) AS redundant
FROM begun b
JOIN turns t USING (part, session_id, chain, request)
LEFT JOIN turns p ON p.part = b.part AND p.session_id = b.session_id AND p.chain = b.chain AND p.request = t.before
LEFT JOIN written w ON w.part = b.part AND w.session_id = b.session_id AND w.chain = b.chain AND w.request = b.request
LEFT JOIN known k ON k.part = b.part AND k.session_id = b.session_id AND k.item = b.item
WHERE b.tells AND t.counts;

-- What inline batching could take out of them at most, a row for each request that
-- could go and for each redundant message that caused none:
--   redundant  requests that only redundant messages bought and whose answers asked
--              for nothing; with the messages and the answers in later requests
--   free       redundant messages that rode in requests that happened anyway
--   pooled     bought requests whose answers asked for nothing, followed within
--              250 ms by another bought one: one message could have told both. FreeCode
--              pools for as long. The answer would still be given
CREATE VIEW removable_notifications AS
WITH bought AS (
  SELECT part, session_id, chain, request, request_index,
         bool_and(redundant) AS redundant, any_value(status) = 'answered' AND any_value(calls) = 0 AS idle
  FROM notifications
  WHERE bought
  GROUP BY ALL
),
following AS (
  SELECT part, session_id, chain, request_index, "time", duration_ms, input_tokens, output_tokens,
         lead(request_index) OVER along AS next_index,
         lead("time") OVER along AS next_time
  FROM requests
  WHERE counts AND status = 'answered'
  WINDOW along AS (PARTITION BY part, session_id, chain ORDER BY request)
),
gone AS (
  SELECT part, session_id, b.chain AS chain, b.request AS request, request_index, 'redundant' AS cause, f.input_tokens, f.output_tokens
  FROM bought b
  JOIN following f USING (part, session_id, request_index)
  WHERE b.redundant AND b.idle
  UNION ALL
  SELECT b.part, b.session_id, b.chain, b.request, b.request_index, 'pooled', f.input_tokens, 0
  FROM bought b
  JOIN following f USING (part, session_id, request_index)
  JOIN bought n ON n.part = b.part AND n.session_id = b.session_id AND n.request_index = f.next_index
  WHERE NOT b.redundant AND NOT n.redundant AND b.idle
    AND epoch_ms(f.next_time) - epoch_ms(f."time") - coalesce(f.duration_ms, 0) <= 250
),
pieces AS (
  SELECT n.part AS part, n.session_id AS session_id, n.chain AS chain, n.item AS item, n.request - CASE WHEN n.bought THEN 0 ELSE 1 END AS upto,
         CASE WHEN n.bought THEN n.request_index END AS request_index
  FROM notifications n
  LEFT JOIN gone g ON g.part = n.part AND g.session_id = n.session_id AND g.request_index = n.request_index AND g.cause = 'redundant'
  WHERE n.redundant AND (NOT n.bought OR g.request_index IS NOT NULL)
  UNION ALL
  SELECT g.part, g.session_id, g.chain, i.item, g.request, g.request_index
  FROM gone g
  JOIN items i USING (part, session_id, request_index)
  WHERE g.cause = 'redundant'
),
sizes AS (
  SELECT p.part AS part, p.session_id AS session_id, p.item AS item, p.request_index AS request_index,
         max(coalesce(c.tokens, 0)) AS tokens,
         sum(CASE WHEN c.chain <> p.chain OR c.first_request > p.upto THEN coalesce(c.tokens, 0) * c.requests
                  WHEN c.last_request > p.upto THEN coalesce(c.tokens, 0) * (z.weight_upto - l.weight_upto)
                  ELSE 0 END) AS carried_tokens,
         sum(CASE WHEN c.chain <> p.chain OR c.first_request > p.upto THEN c.billed_tokens
                  WHEN c.last_request > p.upto THEN coalesce(c.tokens, 0) * (z.scaled_upto - l.scaled_upto) + c.excess * (z.used_upto - l.used_upto)
                  ELSE 0 END) AS billed_tokens
  -- Outer for the order of joins, as in carried.
  FROM pieces p
  JOIN carried c USING (part, session_id, item)
  LEFT JOIN request_weights z ON z.part = c.part AND z.session_id = c.session_id AND z.chain = c.chain AND z.request = c.last_request
  LEFT JOIN request_weights l ON l.part = p.part AND l.session_id = p.session_id AND l.chain = p.chain AND l.request = p.upto
  GROUP BY p.part, p.session_id, p.item, p.request_index
)
SELECT session_id, g.cause, request_index, 1 AS requests, g.input_tokens, g.output_tokens,
       coalesce(sum(s.tokens), 0)::BIGINT AS tokens,
       coalesce(sum(s.carried_tokens), 0)::BIGINT AS carried_tokens,
       coalesce(sum(s.billed_tokens), 0)::DOUBLE AS billed_tokens
FROM gone g
LEFT JOIN sizes s USING (part, session_id, request_index)
GROUP BY g.part, g.session_id, g.cause, g.request_index, g.input_tokens, g.output_tokens
UNION ALL
SELECT session_id, 'free', NULL, 0, NULL, NULL, tokens::BIGINT, carried_tokens::BIGINT, billed_tokens::DOUBLE
FROM sizes
WHERE request_index IS NULL;
