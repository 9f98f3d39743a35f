-- Re-reads of file parts that were still in the conversation; documented in overlapping-reads.sql.
CREATE VIEW overlapping_reads AS
WITH reads AS (
  SELECT part, session_id, c.call AS call, c.path, c."range", c.result_item, r.chain AS chain, r.request AS request,
         coalesce(nullif(regexp_extract(c."range", '^(-?[0-9]{1,18})(:|$)', 1), '')::BIGINT, 1) AS first_line,
         coalesce(nullif(regexp_extract(c."range", '^[^:]*:(-?[0-9]{1,18})(:|$)', 1), '')::BIGINT, 1000000000) AS lines
  FROM calls c
  JOIN requests r USING (part, session_id, request_index)
  WHERE c.counts AND c.ran AND c.class = 'read' AND c.path IS NOT NULL AND c.failed IS NOT TRUE
    AND c.result_item IS NOT NULL
),
-- An aggregate, since there may be very many pairs and only the latest counts. Joins here
-- are outer so that they keep their order: spans with all reads of a chain, or all
-- reads of a session with each other, would be their product.
latest AS (
  SELECT b.part AS part, b.session_id AS session_id, b.call AS call, max(a.call) FILTER (WHERE s.item IS NOT NULL) AS earlier_call
  FROM reads b
  JOIN reads a ON a.part = b.part AND a.session_id = b.session_id AND a.path = b.path AND a.chain = b.chain AND a.call < b.call
   AND a.first_line < b.first_line + b.lines AND b.first_line < a.first_line + a.lines
  LEFT JOIN spans s ON s.part = a.part AND s.session_id = a.session_id AND s.item = a.result_item AND s.chain = b.chain
   AND b.request BETWEEN s.first_request AND s.last_request
  GROUP BY b.part, b.session_id, b.call
),
pairs AS (
  SELECT l.part AS part, l.session_id AS session_id, l.call AS call, l.earlier_call AS earlier_call, b.path AS path, a."range" AS earlier_range, b."range" AS "range", b.result_item AS result_item
  FROM latest l
  LEFT JOIN reads b ON b.part = l.part AND b.session_id = l.session_id AND b.call = l.call
  LEFT JOIN reads a ON a.part = l.part AND a.session_id = l.session_id AND a.call = l.earlier_call
  WHERE l.earlier_call IS NOT NULL
),
changes AS (
  SELECT part, session_id, call, path FROM calls WHERE mutates AND ran
)
SELECT p.part AS part, p.session_id AS session_id, p.call AS call, p.earlier_call, p.path AS path, p.earlier_range, p."range" AS "range",
       coalesce(i.tokens, 0) AS tokens,
       coalesce(i.carried_tokens, 0) AS carried_tokens
FROM pairs p
LEFT JOIN carried_items i ON i.part = p.part AND i.session_id = p.session_id AND i.item = p.result_item
ASOF LEFT JOIN (SELECT part, session_id, path, call AS edited FROM changes WHERE path IS NOT NULL) e
  ON e.part = p.part AND e.session_id = p.session_id AND e.path = p.path AND e.edited < p.call
ASOF LEFT JOIN (SELECT part, session_id, call AS changed FROM changes WHERE path IS NULL) m
  ON m.part = p.part AND m.session_id = p.session_id AND m.changed < p.call
WHERE coalesce(e.edited, -1) < p.earlier_call
  AND coalesce(m.changed, -1) < p.earlier_call;
