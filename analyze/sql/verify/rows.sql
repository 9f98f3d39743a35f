-- No rows are missing
--
-- Every session has as many rows in each table as were written with it. Parts of fclog versions that did not note
-- the numbers are not checked.
--
-- Do: import the log again; a file of the part was removed or replaced
WITH noted AS (
  SELECT file, place, part, session_id, split_part(entry, '=', 1) AS table_name, split_part(entry, '=', 2)::BIGINT AS rows
  FROM (SELECT *, unnest(contents) AS entry FROM sessions)
),
checkable AS (
  SELECT file, place, part, session_id FROM sessions WHERE len(contents) > 0
),
held AS (
  SELECT 'requests' AS table_name, place, part, session_id, count(*) AS rows FROM requests GROUP BY ALL
  UNION ALL SELECT 'items', place, part, session_id, count(*) FROM items GROUP BY ALL
  UNION ALL SELECT 'spans', place, part, session_id, count(*) FROM spans GROUP BY ALL
  UNION ALL SELECT 'calls', place, part, session_id, count(*) FROM calls GROUP BY ALL
  UNION ALL SELECT 'texts', place, part, session_id, count(*) FROM texts GROUP BY ALL
  UNION ALL SELECT 'other_billed', place, part, session_id, count(*) FROM other_billed GROUP BY ALL
  UNION ALL SELECT 'reported', place, part, session_id, count(*) FROM reported GROUP BY ALL
  UNION ALL SELECT 'calibration', place, part, session_id, count(*) FROM calibration GROUP BY ALL
  UNION ALL SELECT 'problems', place, part, session_id, count(*) FROM problems GROUP BY ALL
),
compared AS (
  SELECT n.file, n.place, n.session_id, n.table_name, n.rows AS noted, coalesce(h.rows, 0) AS held
  FROM noted n
  LEFT JOIN held h USING (place, part, session_id, table_name)
  UNION ALL
  SELECT c.file, c.place, c.session_id, h.table_name, 0, h.rows
  FROM held h
  JOIN checkable c USING (place, part, session_id)
  ANTI JOIN noted n USING (place, part, session_id, table_name)
)
SELECT table_name || '/' || place || '.parquet' AS file, session_id,
       held || ' of ' || noted || ' rows are there' AS detail, abs(noted - held) AS count
FROM compared
WHERE noted <> held
