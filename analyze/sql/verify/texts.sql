-- Every text is there
--
-- What was counted by its words has its text in the same part, and so has a whole output that a call kept beside
-- a shorter one. Encrypted reasoning has a size without words. A dataset without texts holds none.
--
-- Do: import the log again; its texts file was removed or cut
WITH wanted AS (
  SELECT file, place, part, session_id, text_hash FROM items WHERE tokens IS NOT NULL AND NOT sized AND kind <> 'reasoning'
  UNION ALL
  SELECT s.file, place, part, session_id, s.text_hash
  FROM spans s
  JOIN items i USING (place, part, session_id, item)
  WHERE s.tokens IS NOT NULL AND NOT s.sized AND i.kind <> 'reasoning'
  UNION ALL SELECT file, place, part, session_id, full_hash FROM calls WHERE full_hash IS NOT NULL
)
SELECT w.file, w.session_id, 'its text is not in the part' AS detail, count(*) AS count
FROM wanted w
ANTI JOIN texts t USING (place, part, session_id, text_hash)
WHERE getvariable('with_text')
GROUP BY ALL
UNION ALL
SELECT file, session_id, 'texts in a dataset that is to hold none', count(*)
FROM texts
WHERE NOT getvariable('with_text')
GROUP BY ALL
