-- Chains of single read-only calls; documented in serial-chains.sql.
CREATE VIEW serial_chains AS
WITH singles AS (
  SELECT part, session_id, request_index, min(call) AS call
  FROM calls
  WHERE counts AND request_index IS NOT NULL
  GROUP BY ALL
  HAVING count(*) = 1 AND bool_and(read_only AND ran AND poll IS NULL)
),
turns AS (
  SELECT r.part AS part, r.session_id AS session_id, r.chain AS chain, r.run AS run, r.request AS request, r.request_index AS request_index, r.input_tokens, r.output_tokens,
         s.call AS call, c.tool AS tool, c.args, c.result_item,
         row_number() OVER w AS n,
         lag(s.call) OVER w AS prev_call,
         lag(c.args) OVER w AS prev_args,
         lag(c.result_item) OVER w AS prev_result_item,
         lag(r.run) OVER w AS prev_run
  FROM requests r
  LEFT JOIN singles s USING (part, session_id, request_index)
  LEFT JOIN calls c ON c.part = s.part AND c.session_id = s.session_id AND c.call = s.call
  WHERE r.counts AND r.status = 'answered'
  WINDOW w AS (PARTITION BY r.part, r.session_id, r.chain ORDER BY r.request)
),
candidates AS (
  SELECT t.part, t.session_id, t.call,
         new_words(t.args, t.prev_args) AS words,
         t.prev_result_item
  FROM turns t
  WHERE t.call IS NOT NULL AND t.prev_call IS NOT NULL AND t.run = t.prev_run
),
-- Only the texts that are looked at: the view texts gathers all of a dataset's.
looked_at AS (
  SELECT x.text_hash AS text_hash, any_value(x."text") AS "text"
  FROM raw_texts x
  WHERE x.text_hash IN (
    SELECT i.text_hash
    FROM candidates k
    JOIN items i ON i.part = k.part AND i.session_id = k.session_id AND i.item = k.prev_result_item)
  GROUP BY x.text_hash
),
links AS (
  SELECT k.part AS part, k.session_id AS session_id, k.call AS call
  FROM candidates k
  LEFT JOIN items i ON i.part = k.part AND i.session_id = k.session_id AND i.item = k.prev_result_item
  LEFT JOIN looked_at x ON x.text_hash = i.text_hash
  WHERE NOT coalesce(holds_any(x."text", k.words), false)
),
grouped AS (
  SELECT t.*, l.call IS NOT NULL AS linked,
         count(*) FILTER (WHERE l.call IS NULL) OVER (
           PARTITION BY t.part, t.session_id, t.chain ORDER BY t.n) AS chain_number
  FROM turns t
  LEFT JOIN links l USING (part, session_id, call)
)
SELECT session_id, chain, run,
       min(request) AS first_request,
       max(request) AS last_request,
       count(*) AS calls,
       count(*) FILTER (WHERE linked) AS removable_requests,
       sum(input_tokens) FILTER (WHERE linked)::BIGINT AS input_tokens,
       sum(output_tokens) FILTER (WHERE linked)::BIGINT AS output_tokens,
       in_order(array_agg((n, tool))) AS tools
FROM grouped
GROUP BY part, session_id, chain, run, chain_number
HAVING count(*) FILTER (WHERE linked) > 0;
