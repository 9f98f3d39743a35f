-- Rows belong to a session of their part
--
-- Every row's part and session stand in the sessions file of the same name. In merged files a part that was
-- replaced since leaves rows without a session until the next merge; those count nowhere and are no fault.
--
-- Do: import the logs again into a new dataset; these rows count nowhere
WITH parts AS (SELECT DISTINCT place, part FROM sessions),
strangers AS (
  SELECT file, place, part, session_id FROM requests
  UNION ALL SELECT file, place, part, session_id FROM items
  UNION ALL SELECT file, place, part, session_id FROM spans
  UNION ALL SELECT file, place, part, session_id FROM calls
  UNION ALL SELECT file, place, part, session_id FROM texts
  UNION ALL SELECT file, place, part, session_id FROM other_billed
  UNION ALL SELECT file, place, part, session_id FROM reported
  UNION ALL SELECT file, place, part, session_id FROM calibration
  UNION ALL SELECT file, place, part, session_id FROM problems
)
SELECT x.file, x.session_id, 'rows of a session that the part does not have' AS detail, count(*) AS count
FROM strangers x
ANTI JOIN sessions s USING (place, part, session_id)
WHERE x.place NOT LIKE '%/merged-%' OR EXISTS (FROM parts p WHERE p.place = x.place AND p.part = x.part)
GROUP BY ALL
