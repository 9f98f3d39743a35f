-- Which rows count. raw_* are the Parquet files as they are; a part's rows belong
-- to the dataset when its sessions row stands in a file of the same stem.
CREATE TABLE committed_parts AS
WITH own AS (
  SELECT source, stem, part, session_id, count(*) FILTER (NOT inherited) AS own_requests
  FROM raw_requests
  GROUP BY ALL
)
SELECT s.source, s.stem, s.part, s.session_id, s.started_at, s.ended_at, s.records, s.importer, s.cwd, s.models, s.file,
       s.spawned_at, s.parent_session_id, s.parent_call_id,
       coalesce(o.own_requests, 0) AS own_requests
FROM raw_sessions s
LEFT JOIN own o USING (source, stem, part, session_id);

-- One row set per session, when several files hold it: a longer copy, an older
-- import, the same part in two files of a merge that was killed.
CREATE TABLE current_parts AS
SELECT *
FROM committed_parts
QUALIFY row_number() OVER (
  PARTITION BY source, session_id
  ORDER BY own_requests DESC, records DESC, try_cast(importer AS INTEGER) DESC, part, stem
) = 1;

-- Requests whose response another session, or an earlier request, owns.
CREATE TABLE copied_requests AS
SELECT r.source, r.session_id, r.request_index
FROM raw_requests r
JOIN current_parts c USING (source, stem, part, session_id)
WHERE NOT r.inherited AND r.response_id IS NOT NULL
QUALIFY row_number() OVER (
  PARTITION BY r.source, r.response_id
  ORDER BY c.started_at NULLS LAST, r.session_id, r.request_index
) > 1;
