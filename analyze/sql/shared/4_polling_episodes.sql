-- Chains of responses that only polled; documented in polling-episodes.sql.
CREATE VIEW polling_episodes AS
WITH responses AS (
  SELECT part, session_id, request_index,
         count(*) AS polls,
         count(*) FILTER (WHERE poll = 'empty') AS empty_polls
  FROM calls
  WHERE counts AND request_index IS NOT NULL
  GROUP BY ALL
  HAVING bool_and(poll IS NOT NULL)
),
turns AS (
  SELECT part, session_id, r.chain AS chain, r.run AS run, r.request AS request, request_index, r.input_tokens, r.output_tokens,
         p.polls, p.empty_polls,
         count(*) FILTER (WHERE p.polls IS NULL) OVER (PARTITION BY r.part, r.session_id, r.chain, r.run ORDER BY r.request) AS episode
  FROM requests r
  LEFT JOIN responses p USING (part, session_id, request_index)
  WHERE r.counts AND r.status = 'answered'
),
episodes AS (
  SELECT part, session_id, chain, run, episode,
         min(request) AS first_request, max(request) AS last_request, count(*) AS n,
         sum(polls) AS polls, sum(empty_polls) AS empty_polls,
         sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens,
         array_agg(request_index) AS request_indexes
  FROM turns
  WHERE polls IS NOT NULL
  GROUP BY ALL
),
pieces AS (
  SELECT part, session_id, e.chain AS chain, e.run AS run, e.episode, e.last_request, unnest([c.args_item, c.result_item]) AS item
  FROM (SELECT *, unnest(request_indexes) AS request_index FROM episodes) e
  JOIN calls c USING (part, session_id, request_index)
),
afterwards AS (
  SELECT p.part AS part, p.session_id AS session_id, p.chain AS chain, p.run AS run, p.episode, c.item AS item,
         max(coalesce(c.tokens, 0)) AS tokens,
         sum(CASE WHEN c.chain <> p.chain OR c.first_request > p.last_request THEN coalesce(c.tokens, 0) * c.requests
                  WHEN c.last_request > p.last_request THEN coalesce(c.tokens, 0) * (z.weight_upto - l.weight_upto)
                  ELSE 0 END) AS carried_tokens,
         sum(CASE WHEN c.chain <> p.chain OR c.first_request > p.last_request THEN c.billed_tokens
                  WHEN c.last_request > p.last_request THEN coalesce(c.tokens, 0) * (z.scaled_upto - l.scaled_upto) + c.excess * (z.used_upto - l.used_upto)
                  ELSE 0 END) AS billed_tokens
  -- Outer for the order of joins, as in carried.
  FROM pieces p
  JOIN carried c USING (part, session_id, item)
  LEFT JOIN request_weights z ON z.part = c.part AND z.session_id = c.session_id AND z.chain = c.chain AND z.request = c.last_request
  LEFT JOIN request_weights l ON l.part = p.part AND l.session_id = p.session_id AND l.chain = p.chain AND l.request = p.last_request
  GROUP BY p.part, p.session_id, p.chain, p.run, p.episode, c.item
)
SELECT session_id, chain, run, e.first_request, e.last_request,
       e.n - 1 AS requests_low,
       e.n AS requests_high,
       e.polls::BIGINT AS polls,
       e.empty_polls::BIGINT AS empty_polls,
       e.input_tokens::BIGINT AS input_tokens,
       e.output_tokens::BIGINT AS output_tokens,
       coalesce(sum(a.tokens), 0)::BIGINT AS tokens,
       coalesce(sum(a.carried_tokens), 0)::BIGINT AS carried_tokens,
       coalesce(sum(a.billed_tokens), 0)::DOUBLE AS billed_tokens
FROM episodes e
LEFT JOIN afterwards a USING (part, session_id, chain, run, episode)
GROUP BY ALL;
