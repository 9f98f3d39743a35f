-- What techniques could touch of each selected session at most, in provider tokens
-- over all requests that carried it; 0 where nothing. As in the question savings,
-- session by session.
WITH items_of AS (
  SELECT i.part, i.session_id,
         sum(i.billed_tokens) FILTER (WHERE i.kind = 'tool_result') AS results,
         sum(i.prefix_billed_tokens) AS prefixes
  FROM carried_items i
  GROUP BY ALL
),
shell_of AS (
  SELECT c.part, c.session_id, sum(i.billed_tokens) AS shell
  FROM calls c
  JOIN carried_items i ON i.part = c.part AND i.session_id = c.session_id AND i.item = c.result_item
  WHERE c.class = 'shell'
  GROUP BY ALL
)
SELECT s.source, s.session_id, t.root_session_id,
       round(coalesce(h.shell, 0))::BIGINT, round(coalesce(i.results, 0))::BIGINT, round(coalesce(i.prefixes, 0))::BIGINT
FROM sessions s
JOIN session_tree t USING (source, session_id)
LEFT JOIN items_of i USING (part, session_id)
LEFT JOIN shell_of h USING (part, session_id)
ORDER BY 1, 2
