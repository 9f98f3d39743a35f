-- Truncated results
--
-- Results of which the model saw only a part, and whether it came back for the rest. A later call goes back to a
-- result when it asks for the handle that the cut result named. Distances are in requests of the same chain;
-- a return on another chain counts as later.
--
-- Columns:
--   session_id       the agent's own ID
--   tool             tool whose result was cut
--   output_kind      shell only: source, search, log, other
--   truncated        recoverable: the rest can be asked for; lost: only a new run brings it
--   results          results cut
--   tokens           raw tokens of what the model saw of them
--   back_within_3    results that the model came back to within 3 requests
--   back_later       results that it came back to after that
--   never            results that it never came back to
WITH cut AS (
  SELECT part, session_id, c.call AS call, c.tool AS tool, c.output_kind, c.truncated, c.handle, c.result_item, r.chain AS chain, r.request AS request
  FROM calls c
  LEFT JOIN requests r USING (part, session_id, request_index)
  WHERE c.counts AND c.truncated IS NOT NULL
),
returns AS (
  SELECT t.part AS part, t.session_id AS session_id, t.call AS call,
         min(CASE WHEN r.chain = t.chain THEN r.request - t.request ELSE 1000000000 END) AS distance
  FROM cut t
  JOIN calls c ON c.part = t.part AND c.session_id = t.session_id AND c.recovers = t.handle AND c.call > t.call
  LEFT JOIN requests r ON r.part = c.part AND r.session_id = c.session_id AND r.request_index = c.request_index
  GROUP BY ALL
)
SELECT t.session_id, t.tool, t.output_kind, t.truncated,
       count(*) AS results,
       coalesce(sum(i.tokens), 0)::BIGINT AS tokens,
       count(*) FILTER (WHERE b.distance <= 3) AS back_within_3,
       count(*) FILTER (WHERE b.distance > 3) AS back_later,
       count(*) FILTER (WHERE b.distance IS NULL) AS never
FROM cut t
LEFT JOIN returns b USING (part, session_id, call)
LEFT JOIN items i ON i.part = t.part AND i.session_id = t.session_id AND i.item = t.result_item
GROUP BY t.part, t.session_id, t.tool, t.output_kind, t.truncated
ORDER BY t.session_id, 6 DESC, t.tool, t.output_kind, t.truncated
