-- Which rows count. raw_* are the Parquet files as they are; a part's rows belong
-- to the dataset when its sessions row stands in a file of the same stem.
CREATE TABLE committed_parts AS
WITH own AS (
  SELECT source, stem, part, session_id, count(*) FILTER (NOT inherited) AS own_requests, sum(counted_tokens) AS counted_tokens,
         sum(coalesce(input_tokens, 0) + coalesce(output_tokens, 0)) FILTER (NOT inherited) AS own_tokens
  FROM raw_requests
  GROUP BY ALL
)
SELECT s.source, s.stem, s.part, s.session_id, s.started_at, s.ended_at, s.records, s.importer, s.cwd, s.models, s.file,
       s.spawned_at, s.parent_session_id, s.parent_call_id, s.forked_from, coalesce(s.superseded, false) AS superseded,
       coalesce(o.own_requests, 0) AS own_requests, coalesce(o.counted_tokens, 0) AS counted_tokens,
       coalesce(o.own_tokens, 0) AS own_tokens
FROM raw_sessions s
LEFT JOIN own o USING (source, stem, part, session_id);

-- One row set per session, when several files hold it: a longer copy, one whose
-- usage or texts are whole, an older import, the same part in two files of a merge that was
-- killed. What the file holds under another ID by now does not count.
CREATE TABLE current_parts AS
SELECT * EXCLUDE (superseded)
FROM committed_parts
WHERE NOT superseded
QUALIFY row_number() OVER (
  PARTITION BY source, session_id
  ORDER BY own_requests DESC, own_tokens DESC, records DESC, counted_tokens DESC, try_cast(importer AS INTEGER) DESC, part, stem
) = 1;

-- Whether an ID is long and mixed enough that nothing else has the same by chance.
-- Local servers count from 1 or draw from a thousand, tests write msg_1.
CREATE MACRO never_repeats(id) AS
  len(regexp_replace(id, '^[A-Za-z]+[-_]', '')) >= 16
  AND len(list_distinct(string_split(regexp_replace(id, '^[A-Za-z]+[-_]', ''), ''))) >= 8;

-- Trajectories that were made of an agent's own log, which is in the dataset too:
-- they carry its session ID. So are the sub-agents and continuations in them.
CREATE TABLE converted_sessions AS
WITH RECURSIVE native AS (
  SELECT session_id, min(source) AS source FROM current_parts WHERE source NOT IN ('atif', 'api-log') GROUP BY ALL
),
converted(session_id, owner_source, owner_session_id) AS (
  SELECT a.session_id, n.source, n.session_id
  FROM current_parts a
  JOIN native n USING (session_id)
  WHERE a.source = 'atif' AND never_repeats(a.session_id)
  UNION
  SELECT a.session_id, c.owner_source, c.owner_session_id
  FROM current_parts a
  JOIN converted c ON a.parent_session_id = c.session_id
  WHERE a.source = 'atif'
)
SELECT 'atif' AS source, a.part, session_id, a.file, a.own_requests, c.owner_source, c.owner_session_id
FROM converted c
JOIN current_parts a USING (session_id)
WHERE a.source = 'atif'
QUALIFY row_number() OVER (PARTITION BY session_id ORDER BY c.owner_source, c.owner_session_id) = 1;

DELETE FROM current_parts WHERE (source, session_id) IN (SELECT (source, session_id) FROM converted_sessions);
