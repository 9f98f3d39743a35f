-- The tables of the selected sessions, as in the file of this name for DuckDB, which
-- says why.
CREATE TABLE sessions AS
SELECT r.* EXCEPT (stem) FROM raw_sessions r WHERE (source, stem, part, session_id) IN (SELECT source, stem, part, session_id FROM selected);

CREATE TABLE reported AS
SELECT r.* EXCEPT (stem) FROM raw_reported r WHERE (source, stem, part, session_id) IN (SELECT source, stem, part, session_id FROM selected);

CREATE TABLE items AS
SELECT r.* EXCEPT (stem) FROM raw_items r WHERE (source, stem, part, session_id) IN (SELECT source, stem, part, session_id FROM selected);

CREATE TABLE spans AS
SELECT r.* EXCEPT (stem) FROM raw_spans r WHERE (source, stem, part, session_id) IN (SELECT source, stem, part, session_id FROM selected);

CREATE TABLE other_billed AS
WITH holders AS (
  SELECT source AS held_source, stem AS held_stem, part AS held_part, session_id AS held_session, forked_from, started_at, ended_at FROM current_parts
),
firsts AS (
  SELECT r.*,
         first_value(r.session_id) OVER (
           PARTITION BY r.source, r.kind, r."time", r.model, r.input_tokens, r.output_tokens
           ORDER BY c.forked_from IS NOT NULL, c.started_at NULLS LAST, c.ended_at NULLS LAST, r.session_id
         ) AS first_session
  FROM raw_other_billed r
  JOIN holders c ON c.held_source = r.source AND c.held_stem = r.stem AND c.held_part = r.part AND c.held_session = r.session_id
)
SELECT f.* EXCEPT (stem, first_session)
FROM firsts f
WHERE (source, stem, part, session_id) IN (SELECT source, stem, part, session_id FROM selected)
  AND (f."time" IS NULL OR f.first_session = f.session_id);

CREATE TABLE calibration AS
SELECT r.* EXCEPT (stem) FROM raw_calibration r WHERE (source, stem, part, session_id) IN (SELECT source, stem, part, session_id FROM selected);

CREATE VIEW texts AS
SELECT text_hash, any_value("text") AS "text"
FROM raw_texts
WHERE (source, stem, part, session_id) IN (SELECT source, stem, part, session_id FROM committed_parts)
GROUP BY text_hash;
