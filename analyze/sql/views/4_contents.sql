-- What the selected sessions hold but for their requests and calls.
CREATE TABLE sessions AS
SELECT r.* EXCLUDE (stem) FROM raw_sessions r JOIN selected USING (source, stem, part, session_id)
ORDER BY r.started_at NULLS LAST, r.source, r.session_id;

CREATE TABLE items AS
SELECT r.* EXCLUDE (stem) FROM raw_items r JOIN selected USING (source, stem, part, session_id);

CREATE TABLE spans AS
SELECT r.* EXCLUDE (stem) FROM raw_spans r JOIN selected USING (source, stem, part, session_id);

-- A session's copied history may hold such calls too: those of one time and usage
-- stand in the oldest session only.
CREATE TABLE other_billed AS
WITH firsts AS (
  SELECT r.* EXCLUDE (stem), r.stem,
         first_value(r.session_id) OVER (
           PARTITION BY r.source, r.kind, r."time", r.model, r.input_tokens, r.output_tokens
           ORDER BY c.forked_from IS NOT NULL, c.started_at NULLS LAST, c.ended_at NULLS LAST, r.session_id
         ) AS first_session
  FROM raw_other_billed r
  JOIN current_parts c USING (source, stem, part, session_id)
)
SELECT f.* EXCLUDE (stem, first_session)
FROM firsts f
JOIN selected USING (source, stem, part, session_id)
WHERE f."time" IS NULL OR f.first_session = f.session_id;

CREATE TABLE reported AS
SELECT r.* EXCLUDE (stem) FROM raw_reported r JOIN selected USING (source, stem, part, session_id);

CREATE TABLE calibration AS
SELECT r.* EXCLUDE (stem) FROM raw_calibration r JOIN selected USING (source, stem, part, session_id);

-- Every text of the dataset once, kept ones included. It stays in the files.
CREATE VIEW texts AS
SELECT r.text_hash, any_value(r."text") AS "text"
FROM raw_texts r
SEMI JOIN committed_parts USING (source, stem, part, session_id)
GROUP BY r.text_hash;
