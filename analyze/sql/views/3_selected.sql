-- Sessions that meet every condition, of the newest families: a family is a
-- session with the sub-agents below it, as new as its newest member.
INSERT INTO selected
WITH hits AS (
  SELECT c.source, c.stem, c.part, c.session_id, c.started_at, t.root_session_id
  FROM current_parts c
  JOIN session_tree t USING (source, session_id)
  WHERE true
),
families AS (
  SELECT source, root_session_id
  FROM hits
  GROUP BY ALL
  ORDER BY max(started_at) DESC NULLS LAST, source, root_session_id
  LIMIT ?::BIGINT
)
SELECT source, stem, part, session_id
FROM hits
SEMI JOIN families USING (source, root_session_id);
