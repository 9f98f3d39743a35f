-- Which rows count, as in the file of this name for DuckDB, which says why.
CREATE TABLE committed_parts AS
WITH own AS (
  SELECT source, stem, part, session_id, count(*) FILTER (WHERE NOT inherited) AS own_requests, sum(counted_tokens) AS counted_tokens,
         sum(coalesce(input_tokens, 0) + coalesce(output_tokens, 0)) FILTER (WHERE NOT inherited) AS own_tokens
  FROM raw_requests
  GROUP BY ALL
)
SELECT s.source AS source, s.stem AS stem, s.part AS part, s.session_id AS session_id, s.started_at, s.ended_at, s.records, s.importer, s.cwd, s.models, s.file,
       s.spawned_at, s.parent_session_id, s.parent_call_id, s.forked_from, coalesce(s.superseded, false) AS superseded,
       coalesce(o.own_requests, 0) AS own_requests, coalesce(o.counted_tokens, 0) AS counted_tokens,
       coalesce(o.own_tokens, 0) AS own_tokens
FROM raw_sessions s
LEFT JOIN own o USING (source, stem, part, session_id);

CREATE TABLE best_parts AS
SELECT * EXCEPT (superseded)
FROM committed_parts
WHERE NOT superseded
QUALIFY row_number() OVER (
  PARTITION BY source, session_id
  ORDER BY own_requests DESC, own_tokens DESC, records DESC, counted_tokens DESC, toInt32OrNull(importer) DESC, part, stem
) = 1;

-- The bound stands for UNION without ALL, which ClickHouse has not in recursion.
CREATE TABLE converted_sessions AS
WITH RECURSIVE native AS (
  SELECT session_id, min(source) AS source FROM best_parts WHERE source NOT IN ('atif', 'api-log') GROUP BY ALL
),
converted AS (
  SELECT a.session_id AS session_id, n.source AS owner_source, n.session_id AS owner_session_id, 0::BIGINT AS depth
  FROM best_parts a
  JOIN native n ON n.session_id = a.session_id
  WHERE a.source = 'atif' AND never_repeats(a.session_id)
  UNION ALL
  SELECT a.session_id, c.owner_source, c.owner_session_id, c.depth + 1
  FROM best_parts a
  JOIN converted c ON a.parent_session_id = c.session_id
  WHERE a.source = 'atif' AND c.depth < 100
)
SELECT 'atif' AS source, a.part AS part, c.session_id AS session_id, a.file AS file, a.own_requests AS own_requests,
       c.owner_source AS owner_source, c.owner_session_id AS owner_session_id
FROM converted c
JOIN best_parts a ON a.session_id = c.session_id
WHERE a.source = 'atif'
QUALIFY row_number() OVER (PARTITION BY c.session_id ORDER BY c.owner_source, c.owner_session_id) = 1;

CREATE TABLE current_parts AS
SELECT * FROM best_parts WHERE (source, session_id) NOT IN (SELECT source, session_id FROM converted_sessions);

DROP TABLE best_parts;
