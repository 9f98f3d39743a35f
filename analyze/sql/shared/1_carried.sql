-- Spans with the counting requests that carried them and what the provider counted
-- for them. A request counts when its response is owned by this session
-- (requests.counts). A request that sends another one's whole payload again
-- (base_request_index) weighs on the spans of that base too, and on the base's own
-- base. Weights are cumulated along each chain, so that a span costs two look-ups
-- however many requests carried it: upto(last) - upto(first - 1).
--   weight  counting requests
--   used    those of them with known input
--   scaled  the same, each times the factor of its model, so that raw tokens x
--           scaled are the provider's tokens
CREATE VIEW factors AS
SELECT part, session_id, model, kind, factor, method NOT LIKE '%+text' AS reported
FROM calibration
WHERE fit = 'all';

CREATE VIEW request_weights AS
WITH RECURSIVE payload_of AS (
  SELECT r.part AS part, r.session_id AS session_id, r.request_index AS request_index,
         (r.calibrated_tokens IS NOT NULL)::BIGINT AS used,
         CASE WHEN r.calibrated_tokens IS NULL THEN 0.0::DOUBLE
              ELSE coalesce(f.factor, r.calibrated_tokens / nullif(r.counted_tokens, 0), 1.0)::DOUBLE END AS scaled
  FROM requests r
  LEFT JOIN factors f ON f.part = r.part AND f.session_id = r.session_id AND f.model IS NOT DISTINCT FROM r.model AND f.kind IS NULL
  WHERE r.counts
  UNION ALL
  SELECT p.part, p.session_id, r.base_request_index, p.used, p.scaled
  FROM payload_of p
  JOIN requests r USING (part, session_id, request_index)
  WHERE r.base_request_index IS NOT NULL
),
weights AS (
  SELECT part, session_id, request_index, count(*) AS weight, sum(used)::BIGINT AS used, sum(scaled) AS scaled
  FROM payload_of
  GROUP BY ALL
)
SELECT part, session_id, request_index, r.chain AS chain, r.request AS request,
       coalesce(w.weight, 0) AS weight,
       coalesce(w.used, 0) AS used,
       coalesce(w.scaled, 0) AS scaled,
       sum(coalesce(w.weight, 0)) OVER along ::BIGINT AS weight_upto,
       sum(coalesce(w.used, 0)) OVER along ::BIGINT AS used_upto,
       sum(coalesce(w.scaled, 0)) OVER along AS scaled_upto
FROM requests r
LEFT JOIN weights w USING (part, session_id, request_index)
WINDOW along AS (PARTITION BY r.part, r.session_id, r.chain ORDER BY r.request);

-- What the provider's size of a produced item exceeds factor x raw tokens by,
-- where a response is taken at its reported size; documented in package measure.
CREATE VIEW item_excess AS
WITH produced AS (
  SELECT i.part AS part, i.session_id AS session_id, i.item AS item, i.request_index AS request_index,
         r.output_tokens, r.reasoning_tokens,
         coalesce(k.factor, f.factor) * coalesce(i.tokens, 0) AS size,
         (i.part, i.session_id, i.item) IN (SELECT (part, session_id, item) FROM spans) AS is_carried,
         i.kind AS kind
  FROM items i
  JOIN requests r USING (part, session_id, request_index)
  JOIN factors f ON f.part = i.part AND f.session_id = i.session_id AND f.model IS NOT DISTINCT FROM r.model AND f.kind IS NULL
  LEFT JOIN factors k ON k.part = i.part AND k.session_id = i.session_id AND k.model IS NOT DISTINCT FROM r.model AND k.kind = i.kind
  WHERE f.reported AND r.output_final AND r.output_tokens IS NOT NULL
),
responses AS (
  SELECT part, session_id, request_index, sum(size) AS size,
         any_value(output_tokens)
           - CASE WHEN bool_or(is_carried AND kind = 'reasoning') THEN 0 ELSE coalesce(any_value(reasoning_tokens), 0) END AS reported
  FROM produced
  GROUP BY ALL
  HAVING bool_or(is_carried)
)
SELECT part, session_id, p.item AS item, p.size * (r.reported / r.size - 1) AS excess
FROM produced p
JOIN responses r USING (part, session_id, request_index)
WHERE p.size > 0;

CREATE VIEW carried AS
WITH answers AS (
  SELECT part, session_id, model, count(*) AS requests, min(request_index) AS since
  FROM requests
  WHERE counts AND calibrated_tokens IS NOT NULL AND model IS NOT NULL
  GROUP BY ALL
),
main_model AS (
  SELECT part, session_id, model
  FROM answers
  QUALIFY row_number() OVER (PARTITION BY part, session_id ORDER BY requests DESC, since) = 1
),
weighed AS (
  SELECT s.part AS part, s.session_id AS session_id, s.item AS item, s.span, s.chain AS chain, s.first_request, s.last_request, s.position, s.text_hash AS text_hash,
         s.tokens AS tokens, s.prefix_tokens,
         b.weight_upto - a.weight_upto + a.weight AS requests,
         b.used_upto - a.used_upto + a.used AS used,
         b.scaled_upto - a.scaled_upto + a.scaled AS scaled
  -- Outer, though both always exist: joined in this order, never with each other first, which
  -- would be the square of the requests of a chain.
  FROM spans s
  LEFT JOIN request_weights a ON a.part = s.part AND a.session_id = s.session_id AND a.chain = s.chain AND a.request = s.first_request
  LEFT JOIN request_weights b ON b.part = s.part AND b.session_id = s.session_id AND b.chain = s.chain AND b.request = s.last_request
)
SELECT w.part AS part, w.session_id AS session_id, w.item AS item, w.span, w.chain, w.first_request, w.last_request, w.position, w.text_hash AS text_hash,
       w.tokens AS tokens, w.prefix_tokens AS prefix_tokens, w.requests, w.used,
       coalesce(k.factor * w.used, w.scaled) AS scaled,
       coalesce(e.excess, 0) AS excess,
       coalesce(w.tokens, 0) * coalesce(k.factor * w.used, w.scaled) + coalesce(e.excess, 0) * w.used AS billed_tokens
FROM weighed w
LEFT JOIN items i ON i.part = w.part AND i.session_id = w.session_id AND i.item = w.item
LEFT JOIN item_excess e ON e.part = w.part AND e.session_id = w.session_id AND e.item = w.item
LEFT JOIN main_model m ON m.part = w.part AND m.session_id = w.session_id
LEFT JOIN factors k ON k.part = w.part AND k.session_id = w.session_id AND k.model IS NOT DISTINCT FROM m.model AND k.kind = i.kind;

-- Items with their whole cost. tokens is the size of the largest text the item
-- was carried with; carried_tokens and billed_tokens are over all its spans.
CREATE VIEW carried_items AS
SELECT part, session_id, item, i.kind AS kind, i.tool AS tool, i.call_id AS call_id, i.label AS label,
       max(coalesce(c.tokens, 0))::BIGINT AS tokens,
       max(c.prefix_tokens)::BIGINT AS prefix_tokens,
       sum(c.requests)::BIGINT AS requests,
       min(c.first_request) AS first_request,
       max(c.last_request) AS last_request,
       sum(coalesce(c.tokens, 0) * c.requests)::BIGINT AS carried_tokens,
       sum(c.billed_tokens) AS billed_tokens,
       sum(c.prefix_tokens * c.requests)::BIGINT AS prefix_carried_tokens,
       sum(c.prefix_tokens * c.scaled) AS prefix_billed_tokens
FROM carried c
JOIN items i USING (part, session_id, item)
WHERE c.requests > 0
GROUP BY ALL;
