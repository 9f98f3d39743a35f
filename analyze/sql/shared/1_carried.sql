-- Spans with the number of counting requests that carried them.
-- A request counts when its response is owned by this session (requests.counts).
-- A request that sends another one's whole payload again (base_request_index)
-- weighs on the spans of that base too, and on the base's own base. The weights
-- are cumulated along each chain, so a span costs two look-ups however many
-- requests carried it: requests(span) = upto(last) - upto(first - 1).
-- "billed" weighs each request by calibrated_tokens / counted_tokens, so that
-- tokens * billed adds up to the provider's tokens of the logged content.
CREATE VIEW request_weights AS
WITH RECURSIVE payload_of(part, session_id, request_index, counted, ratio, depth) AS (
  SELECT part, session_id, request_index, 1::BIGINT,
         coalesce(calibrated_tokens / nullif(counted_tokens, 0), 0)::DOUBLE, 0
  FROM requests
  WHERE counts
  UNION ALL
  SELECT p.part, p.session_id, r.base_request_index, p.counted, p.ratio, p.depth + 1
  FROM payload_of p
  JOIN requests r USING (part, session_id, request_index)
  WHERE r.base_request_index IS NOT NULL
),
weights AS (
  SELECT part, session_id, request_index, sum(counted)::BIGINT AS weight, sum(ratio) AS billed_weight
  FROM payload_of
  GROUP BY ALL
)
SELECT r.part, r.session_id, r.request_index, r.chain, r.request,
       coalesce(w.weight, 0) AS weight,
       coalesce(w.billed_weight, 0) AS billed_weight,
       sum(coalesce(w.weight, 0)) OVER along ::BIGINT AS upto,
       sum(coalesce(w.billed_weight, 0)) OVER along AS billed_upto
FROM requests r
LEFT JOIN weights w USING (part, session_id, request_index)
WINDOW along AS (PARTITION BY r.part, r.session_id, r.chain ORDER BY r.request);

CREATE VIEW carried AS
SELECT s.part, s.session_id, s.item, s.span, s.chain, s.first_request, s.last_request, s.position,
       s.text_hash, s.tokens, s.prefix_tokens,
       b.upto - a.upto + a.weight AS requests,
       b.billed_upto - a.billed_upto + a.billed_weight AS billed
FROM spans s
JOIN request_weights a ON a.part = s.part AND a.session_id = s.session_id AND a.chain = s.chain AND a.request = s.first_request
JOIN request_weights b ON b.part = s.part AND b.session_id = s.session_id AND b.chain = s.chain AND b.request = s.last_request;

-- Items with their whole cost. tokens is the size of the largest text the item
-- was carried with; carried_tokens and billed_tokens are over all its spans.
CREATE VIEW carried_items AS
SELECT i.part, i.session_id, i.item, i.kind, i.tool, i.call_id, i.label,
       max(coalesce(c.tokens, 0))::BIGINT AS tokens,
       max(c.prefix_tokens)::BIGINT AS prefix_tokens,
       sum(c.requests)::BIGINT AS requests,
       min(c.first_request) AS first_request,
       max(c.last_request) AS last_request,
       sum(coalesce(c.tokens, 0) * c.requests)::BIGINT AS carried_tokens,
       sum(coalesce(c.tokens, 0) * c.billed) AS billed_tokens,
       sum(c.prefix_tokens * c.requests)::BIGINT AS prefix_carried_tokens,
       sum(c.prefix_tokens * c.billed) AS prefix_billed_tokens
FROM carried c
JOIN items i USING (part, session_id, item)
WHERE c.requests > 0
GROUP BY ALL;
