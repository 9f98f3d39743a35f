-- The tables that recordings are read from, of the sessions in chunk alone. files_of_X
-- stands for what reads the files of table X, and is filled in.
sessions AS (
  SELECT r.* FROM files_of_sessions r SEMI JOIN chunk USING (stem, part, session_id)
),
requests AS (
  SELECT r.*, NOT r.inherited AND k.request_index IS NULL AS counts
  FROM (SELECT r.* FROM files_of_requests r SEMI JOIN chunk USING (stem, part, session_id)) r
  LEFT JOIN copied_requests k ON k.source = ?::VARCHAR AND k.session_id = r.session_id AND k.request_index = r.request_index
),
items AS (
  SELECT r.* FROM files_of_items r SEMI JOIN chunk USING (stem, part, session_id)
),
spans AS (
  SELECT r.* FROM files_of_spans r SEMI JOIN chunk USING (stem, part, session_id)
),
calls AS (
  SELECT c.*, NOT c.inherited AND coalesce(q.counts, true) AS counts
  FROM (SELECT r.* FROM files_of_calls r SEMI JOIN chunk USING (stem, part, session_id)) c
  LEFT JOIN (SELECT part, session_id, request_index, counts FROM requests) q USING (part, session_id, request_index)
),
texts AS (
  SELECT r.text_hash, any_value(r."text") AS "text"
  FROM files_of_texts r
  SEMI JOIN (SELECT DISTINCT stem, part FROM chunk) USING (stem, part)
  GROUP BY r.text_hash
),
other_billed AS (
  SELECT r.* FROM files_of_other_billed r SEMI JOIN chunk USING (stem, part, session_id)
),
reported AS (
  SELECT r.* FROM files_of_reported r SEMI JOIN chunk USING (stem, part, session_id)
),
problems AS (
  SELECT r.* FROM files_of_problems r SEMI JOIN chunk USING (stem, part, session_id)
)
