-- Every session of the dataset with the one that started it. basis says how that
-- is known: logged by the sub-agent; call: the parent's call names it (the earliest
-- such call, later ones only talk to it); window: it was spawned while an agent call
-- of the parent ran (the latest such call). Where the sub-agent logs its parent but
-- no call, the parent's call that names it stands in, else the one it began with.
CREATE TABLE session_tree AS
WITH RECURSIVE agent_calls AS (
  SELECT c.source, c.session_id, c.call_id, c.child_session, c."time" AS since,
         c."time" + to_milliseconds(c.duration_ms) AS until
  FROM raw_calls c
  JOIN current_parts USING (source, stem, part, session_id)
  WHERE c.class = 'agent' AND NOT c.inherited
),
candidates AS (
  SELECT source, session_id, parent_session_id, parent_call_id, 'logged' AS basis, 1 AS rank, 0 AS nearness
  FROM current_parts
  WHERE parent_session_id IS NOT NULL
  UNION ALL
  SELECT s.source, s.session_id, a.session_id, a.call_id, 'call', 2, epoch_ms(a.since)
  FROM current_parts s
  JOIN agent_calls a ON a.source = s.source AND a.child_session = s.session_id
  UNION ALL
  SELECT s.source, s.session_id, a.session_id, a.call_id, 'window', 3, -epoch_ms(a.since)
  FROM current_parts s
  JOIN agent_calls a ON a.source = s.source AND s.spawned_at BETWEEN a.since AND a.until
  WHERE s.spawned_at IS NOT NULL
),
best AS (
  SELECT source, session_id, parent_session_id, parent_call_id, basis
  FROM candidates
  WHERE parent_session_id <> session_id
  QUALIFY row_number() OVER (PARTITION BY source, session_id ORDER BY rank, nearness NULLS LAST, parent_session_id, parent_call_id) = 1
),
-- Calls that start what runs on by itself return at once, some without a logged
-- duration: the sub-agent begins within milliseconds of its call.
named AS (
  SELECT source, session_id, parent_session_id, parent_call_id, 1 AS rank, nearness
  FROM candidates
  WHERE basis = 'call'
  UNION ALL
  SELECT s.source, s.session_id, a.session_id, a.call_id, 2, -epoch_ms(a.since)
  FROM current_parts s
  JOIN agent_calls a ON a.source = s.source AND a.session_id = s.parent_session_id
                    AND s.spawned_at BETWEEN a.since AND coalesce(a.until, a.since + INTERVAL 10 SECOND)
  WHERE s.parent_call_id IS NULL AND a.child_session IS NULL
),
nearest AS (
  SELECT source, session_id, parent_session_id, parent_call_id
  FROM named
  QUALIFY row_number() OVER (PARTITION BY source, session_id, parent_session_id ORDER BY rank, nearness NULLS LAST, parent_call_id) = 1
),
parents AS (
  SELECT b.source, b.session_id, b.parent_session_id, coalesce(b.parent_call_id, n.parent_call_id) AS parent_call_id, b.basis
  FROM best b
  LEFT JOIN nearest n USING (source, session_id, parent_session_id)
),
-- The bound only matters for logs whose sessions name each other as parents.
ancestors(source, session_id, ancestor, depth) AS (
  SELECT source, session_id, session_id, 0 FROM current_parts
  UNION ALL
  SELECT a.source, a.session_id, p.parent_session_id, a.depth + 1
  FROM ancestors a
  JOIN parents p ON p.source = a.source AND p.session_id = a.ancestor
  WHERE a.depth < 100
)
SELECT c.source, c.session_id, p.parent_session_id, p.parent_call_id, p.basis,
       arg_max(a.ancestor, a.depth) AS root_session_id,
       max(a.depth)::BIGINT AS depth
FROM current_parts c
JOIN ancestors a USING (source, session_id)
LEFT JOIN parents p USING (source, session_id)
GROUP BY ALL;
