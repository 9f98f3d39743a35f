-- Size of each saving
--
-- What every technique could touch at most. The rows overlap: never add them up. What a technique would really save
-- is for `fclog replay` to say. Tokens are the provider's where it reported usage, raw counts where it did not.
-- output-compression: all results of shell commands. line-number-prefixes: the line numbers in file reads.
-- recurring-block: system prompt, tool definitions, project context and reminders, and the constant part of what no
-- logged content explains (its estimate; per chain, up to the 10 % quantile, where there is none). inline-batching: requests whose response only polled
-- background work, with their calls and results afterwards; requests that a notification caused which told nothing new
-- or could have been one with the next, with it and its answer afterwards. repeats-and-re-reads: calls and results of strict repeats
-- and of overlapping re-reads, polls and to-do lists apart. serial-chains: requests that one wide response would
-- have saved. cache-breaks: tokens sent again because the cached prefix ended early; they are paid for at the full
-- or write price, not fewer tokens are sent. No row takes more from a session than its requests sent, whatever content
-- the log holds for them.
--
-- Columns:
--   technique         name
--   tokens            tokens it could touch, each once; NULL where it touches requests, not content
--   carried_tokens    the same over all requests, output of removable requests included
--   input_tokens      the part of carried_tokens that is input
--   requests          requests it could remove; NULL where it removes none
--   share             input_tokens of all input tokens, 0 to 1
--   estimated         rests on an assumption about what is not logged or how the agent would have gone on
WITH known AS (
  SELECT sum(input_tokens) AS input_tokens, count(calibrated_tokens) > 0 AS calibrated
  FROM requests WHERE counts
),
sized AS (
  SELECT i.part, i.session_id, i.item, i.kind,
         CASE WHEN k.calibrated THEN i.billed_tokens ELSE i.carried_tokens::DOUBLE END AS carried,
         CASE WHEN k.calibrated THEN i.tokens * coalesce(i.billed_tokens / nullif(i.carried_tokens, 0), 1) ELSE i.tokens::DOUBLE END AS once,
         CASE WHEN k.calibrated THEN i.prefix_billed_tokens ELSE i.prefix_carried_tokens::DOUBLE END AS prefix_carried,
         CASE WHEN k.calibrated THEN i.prefix_tokens * coalesce(i.billed_tokens / nullif(i.carried_tokens, 0), 1) ELSE i.prefix_tokens::DOUBLE END AS prefix_once
  FROM carried_items i CROSS JOIN known k
),
sent AS (
  SELECT session_id, sum(input_tokens)::DOUBLE AS tokens FROM requests WHERE counts GROUP BY session_id
),
shell AS (
  SELECT c.session_id AS session_id, sum(i.once) AS once, sum(i.carried) AS carried
  FROM calls c
  JOIN sized i ON i.part = c.part AND i.session_id = c.session_id AND i.item = c.result_item
  WHERE c.class = 'shell'
  GROUP BY c.session_id
),
prefixes AS (
  SELECT session_id, sum(prefix_once) AS once, sum(prefix_carried) AS carried FROM sized WHERE prefix_once > 0 GROUP BY session_id
),
least_unlogged AS (
  SELECT part, session_id, chain, tenth(unlogged_tokens) AS tokens
  FROM requests
  WHERE counts AND unlogged_tokens IS NOT NULL
  GROUP BY ALL
),
constant AS (
  SELECT part, session_id, r.unlogged_tokens::DOUBLE AS unlogged_tokens, greatest(coalesce(r.constant_tokens::DOUBLE, l.tokens), 0) AS tokens
  FROM requests r
  JOIN least_unlogged l USING (part, session_id, chain)
  WHERE r.counts AND r.unlogged_tokens IS NOT NULL
),
unlogged AS (
  SELECT part, session_id, max(tokens) AS once, sum(greatest(least(unlogged_tokens, tokens), 0)) AS carried
  FROM constant
  GROUP BY part, session_id
),
block AS (
  SELECT x.session_id AS session_id, sum(x.once) AS once, sum(x.carried) AS carried
  FROM (
    SELECT session_id, once, carried FROM unlogged
    UNION ALL
    SELECT session_id, once, carried FROM sized WHERE kind IN ('system_prompt', 'tool_definitions', 'project_context', 'reminder')
  ) x
  GROUP BY x.session_id
),
background AS (
  SELECT session_id, tokens, carried_tokens, billed_tokens, input_tokens, output_tokens, requests_high AS requests FROM polling_episodes
  UNION ALL
  SELECT session_id, tokens, carried_tokens, billed_tokens, input_tokens, output_tokens, requests FROM removable_notifications
),
inline AS (
  SELECT p.session_id AS session_id,
         sum(CASE WHEN k.calibrated THEN p.tokens * coalesce(p.billed_tokens / nullif(p.carried_tokens, 0), 1) ELSE p.tokens::DOUBLE END) AS once,
         sum(coalesce(p.input_tokens, 0) + CASE WHEN k.calibrated THEN p.billed_tokens ELSE p.carried_tokens::DOUBLE END) AS carried,
         sum(coalesce(p.output_tokens, 0)) AS output,
         sum(p.requests) AS requests
  FROM background p CROSS JOIN known k
  GROUP BY p.session_id
),
again AS (
  SELECT part, session_id, call FROM calls
  WHERE counts AND strict_repeat_of IS NOT NULL AND poll IS NULL AND class <> 'todo'
  UNION
  SELECT part, session_id, call FROM overlapping_reads
),
repeats AS (
  SELECT i.session_id AS session_id, sum(i.once) AS once, sum(i.carried) AS carried
  FROM again a
  JOIN calls c USING (part, session_id, call)
  JOIN sized i ON i.part = c.part AND i.session_id = c.session_id AND i.item IN (c.args_item, c.result_item)
  GROUP BY i.session_id
),
content AS (
  SELECT 1 AS place, session_id, once, carried, 0 AS output, NULL AS requests FROM shell
  UNION ALL SELECT 2, session_id, once, carried, 0, NULL FROM prefixes
  UNION ALL SELECT 3, session_id, once, carried, 0, NULL FROM block
  UNION ALL SELECT 4, session_id, once, carried, output, requests FROM inline
  UNION ALL SELECT 5, session_id, once, carried, 0, NULL FROM repeats
),
bounded AS (
  SELECT c.place AS place,
         sum(CASE WHEN k.calibrated AND c.once > s.tokens THEN s.tokens ELSE c.once END) AS once,
         sum(CASE WHEN k.calibrated AND c.carried > s.tokens THEN s.tokens ELSE c.carried END) AS input,
         sum(c.output) AS output, sum(c.requests) AS requests
  FROM content c
  LEFT JOIN sent s ON s.session_id = c.session_id
  CROSS JOIN known k
  GROUP BY c.place
),
serial AS (
  SELECT sum(coalesce(input_tokens, 0)) AS input, sum(coalesce(output_tokens, 0)) AS output, sum(removable_requests) AS requests
  FROM serial_chains
),
breaks AS (
  SELECT sum(resent_tokens) AS carried FROM steps WHERE cause IS NOT NULL
),
names(place, technique, removes, estimated) AS (
  SELECT 1, 'output-compression', false, false
  UNION ALL SELECT 2, 'line-number-prefixes', false, false
  UNION ALL SELECT 3, 'recurring-block', false, coalesce((SELECT sum(carried) FROM unlogged), 0) > 0
  UNION ALL SELECT 4, 'inline-batching', true, true
  UNION ALL SELECT 5, 'repeats-and-re-reads', false, false
),
rows(place, technique, once, input, output, requests, estimated) AS (
  SELECT n.place, n.technique, coalesce(b.once, 0), coalesce(b.input, 0), coalesce(b.output, 0),
         CASE WHEN n.removes THEN coalesce(b.requests, 0) END, n.estimated
  FROM names n
  LEFT JOIN bounded b ON b.place = n.place
  UNION ALL SELECT 6, 'serial-chains', NULL, coalesce(input, 0)::DOUBLE, coalesce(output, 0), coalesce(requests, 0), true FROM serial
  UNION ALL SELECT 7, 'cache-breaks', NULL, coalesce(carried, 0)::DOUBLE, 0, NULL, false FROM breaks
)
SELECT technique,
       whole(once) AS tokens,
       whole(input + output) AS carried_tokens,
       whole(input) AS input_tokens,
       requests::BIGINT AS requests,
       CASE WHEN k.input_tokens > 0 THEN (input / k.input_tokens)::DOUBLE END AS share,
       estimated
FROM rows CROSS JOIN known k
ORDER BY place
