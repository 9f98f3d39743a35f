-- Every session of the dataset with the one that started it, as in the file of this
-- name for DuckDB, which says what the bases mean.
CREATE TABLE session_tree AS
WITH RECURSIVE agent_calls AS (
  SELECT c.source AS source, c.session_id AS session_id, c.call_id AS call_id, c.child_session AS child_session, c."time" AS since,
         c."time" + to_milliseconds(c.duration_ms) AS until
  FROM raw_calls c
  JOIN current_parts k USING (source, stem, part, session_id)
  WHERE c.class = 'agent' AND NOT c.inherited
),
candidates AS (
  SELECT source, session_id, parent_session_id, parent_call_id, 'logged' AS basis, 1 AS rank, 0::BIGINT AS nearness
  FROM current_parts
  WHERE parent_session_id IS NOT NULL
  UNION ALL
  SELECT s.source, s.session_id, a.session_id, a.call_id, 'call', 2, epoch_ms(a.since)
  FROM current_parts s
  JOIN agent_calls a ON a.source = s.source AND a.child_session = s.session_id
  UNION ALL
  SELECT s.source, s.session_id, a.session_id, a.call_id, 'window', 3, -epoch_ms(a.since)
  FROM current_parts s
  JOIN agent_calls a ON a.source = s.source
  WHERE s.spawned_at BETWEEN a.since AND a.until
),
best AS (
  SELECT source, session_id, parent_session_id, parent_call_id, basis
  FROM candidates
  WHERE parent_session_id <> session_id
  QUALIFY row_number() OVER (PARTITION BY source, session_id ORDER BY rank, nearness NULLS LAST, parent_session_id, parent_call_id) = 1
),
named AS (
  SELECT source, session_id, parent_session_id, parent_call_id, 1 AS rank, nearness
  FROM candidates
  WHERE basis = 'call'
  UNION ALL
  SELECT s.source, s.session_id, a.session_id, a.call_id, 2, -epoch_ms(a.since)
  FROM current_parts s
  JOIN agent_calls a ON a.source = s.source AND a.session_id = s.parent_session_id
  WHERE s.parent_call_id IS NULL AND a.child_session IS NULL
    AND s.spawned_at BETWEEN a.since AND coalesce(a.until, a.since + INTERVAL 10 SECOND)
),
nearest AS (
  SELECT source, session_id, parent_session_id, parent_call_id
  FROM named
  QUALIFY row_number() OVER (PARTITION BY source, session_id, parent_session_id ORDER BY rank, nearness NULLS LAST, parent_call_id) = 1
),
parents AS (
  SELECT b.source AS source, b.session_id AS session_id, b.parent_session_id AS parent_session_id,
         coalesce(b.parent_call_id, n.parent_call_id) AS parent_call_id, b.basis AS basis
  FROM best b
  LEFT JOIN nearest n USING (source, session_id, parent_session_id)
),
ancestors AS (
  SELECT source, session_id, session_id AS ancestor, 0::BIGINT AS depth FROM current_parts
  UNION ALL
  SELECT a.source, a.session_id, p.parent_session_id, a.depth + 1
  FROM ancestors a
  JOIN parents p ON p.source = a.source AND p.session_id = a.ancestor
  WHERE a.depth < 100
)
SELECT c.source AS source, c.session_id AS session_id, p.parent_session_id AS parent_session_id, p.parent_call_id AS parent_call_id, p.basis AS basis,
       max_by(a.ancestor, a.depth) AS root_session_id,
       max(a.depth) AS depth
FROM current_parts c
JOIN ancestors a ON a.source = c.source AND a.session_id = c.session_id
LEFT JOIN parents p ON p.source = c.source AND p.session_id = c.session_id
GROUP BY ALL;
