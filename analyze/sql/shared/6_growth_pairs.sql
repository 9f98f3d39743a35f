-- Growth pairs and what the even fit predicts for them, as documented in package
-- measure: two answered requests with known input that follow each other on a
-- chain, both of this session, of one run, kind and model, neither on a base.
CREATE VIEW growth_pairs AS
WITH answered AS (
  SELECT *,
         lag(request) OVER w AS a_request,
         lag(request_index) OVER w AS a_request_index,
         lag(run) OVER w AS a_run,
         lag(kind) OVER w AS a_kind,
         lag(model) OVER w AS a_model,
         lag(inherited) OVER w AS a_inherited,
         lag(base_request_index) OVER w AS a_base,
         lag(input_tokens) OVER w AS a_input,
         lag(output_tokens) OVER w AS a_output,
         lag(output_final) OVER w AS a_output_final,
         lag(reasoning_tokens) OVER w AS a_reasoning,
         lag(messages) OVER w AS a_messages
  FROM requests
  WHERE status = 'answered' AND input_tokens IS NOT NULL
  WINDOW w AS (PARTITION BY part, session_id, chain ORDER BY request)
),
pairs AS (
  SELECT *, input_tokens - a_input AS growth, messages - a_messages AS message_growth
  FROM answered
  WHERE a_request IS NOT NULL AND NOT inherited AND NOT a_inherited AND run = a_run AND kind = a_kind
    AND model IS NOT DISTINCT FROM a_model AND base_request_index IS NULL AND a_base IS NULL
),
-- The answered request at or after every request of a chain.
next_answered AS (
  SELECT part, session_id, chain, request AS number,
         min(request) FILTER (WHERE status = 'answered' AND input_tokens IS NOT NULL) OVER (
           PARTITION BY part, session_id, chain ORDER BY request
           ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS request
  FROM requests
),
events AS (
  SELECT n.part AS part, n.session_id AS session_id, n.chain AS chain, n.request AS request, 1 AS sign, i.kind AS kind, i.request_index AS producer, coalesce(s.tokens, 0) AS tokens
  FROM spans s
  JOIN next_answered n ON n.part = s.part AND n.session_id = s.session_id AND n.chain = s.chain AND n.number = s.first_request
  JOIN items i ON i.part = s.part AND i.session_id = s.session_id AND i.item = s.item
  UNION ALL
  SELECT n.part, n.session_id, n.chain, n.request, -1, i.kind, i.request_index, coalesce(s.tokens, 0)
  FROM spans s
  JOIN next_answered n ON n.part = s.part AND n.session_id = s.session_id AND n.chain = s.chain AND n.number = s.last_request + 1
  JOIN items i ON i.part = s.part AND i.session_id = s.session_id AND i.item = s.item
),
fits AS (
  SELECT part, session_id, model, kind, factor, framing_per_message, method NOT LIKE '%+text' AS reported
  FROM calibration
  WHERE fit = 'even'
),
changes AS (
  SELECT p.part AS part, p.session_id AS session_id, p.chain AS chain, p.request AS request,
         sum(e.sign * e.tokens * coalesce(k.factor, f.factor))
           FILTER (WHERE NOT (f.reported AND e.sign > 0 AND e.producer IS NOT DISTINCT FROM p.a_request_index)) AS predicted,
         sum(e.sign) FILTER (WHERE NOT f.reported OR e.producer IS NULL) AS messages,
         sum(e.tokens) FILTER (WHERE e.sign < 0) AS removed,
         bool_or(e.sign > 0 AND e.kind = 'summary') AS summary_began
  FROM pairs p
  JOIN events e USING (part, session_id, chain, request)
  JOIN fits f ON f.part = p.part AND f.session_id = p.session_id AND f.model IS NOT DISTINCT FROM p.model AND f.kind IS NULL
  LEFT JOIN fits k ON k.part = p.part AND k.session_id = p.session_id AND k.model IS NOT DISTINCT FROM p.model AND k.kind = e.kind
  GROUP BY ALL
),
carried_responses AS (
  SELECT i.part, i.session_id, i.request_index, bool_or(i.kind = 'reasoning') AS reasoning
  FROM items i
  SEMI JOIN spans s ON s.part = i.part AND s.session_id = i.session_id AND s.item = i.item
  WHERE i.request_index IS NOT NULL
  GROUP BY ALL
)
SELECT p.part AS part, p.session_id AS session_id, p.model AS model, p.chain AS chain, p.a_request, p.request AS request, p.growth,
       CASE WHEN NOT f.reported OR r.request_index IS NULL THEN 0
            WHEN r.reasoning THEN p.a_output
            ELSE p.a_output - coalesce(p.a_reasoning, 0) END
         + coalesce(c.predicted, 0)
         + f.framing_per_message * coalesce(p.message_growth, c.messages, 0) AS predicted,
       CASE WHEN c.removed > 1000 OR c.summary_began THEN 'content removed'
            WHEN p.growth < -1000 THEN 'silent clearing'
            WHEN p.a_output IS NULL OR NOT p.a_output_final THEN 'non-final output'
       END AS left_out
FROM pairs p
JOIN fits f ON f.part = p.part AND f.session_id = p.session_id AND f.model IS NOT DISTINCT FROM p.model AND f.kind IS NULL
LEFT JOIN changes c ON c.part = p.part AND c.session_id = p.session_id AND c.chain = p.chain AND c.request = p.request
LEFT JOIN carried_responses r ON r.part = p.part AND r.session_id = p.session_id AND r.request_index = p.a_request_index;
