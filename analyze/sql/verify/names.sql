-- Files hold what their names say
--
-- A file of one part is named by it, and stands in the month in which the part's first session started. The rows
-- of a part stand in one place; after a killed merge they may stand in two, which readers know.
--
-- Do: import the logs again into a new dataset; somebody renamed or edited the file
WITH months AS (
  SELECT file, place, part, strftime(min(started_at), '%Y-%m') AS month FROM sessions GROUP BY ALL
)
SELECT file, NULL AS session_id, 'it holds part ' || part || ', which its name does not say' AS detail, 1 AS count
FROM months
WHERE place NOT LIKE '%/merged-%' AND parse_filename(place) <> part
UNION ALL
SELECT file, NULL, 'its first session started in ' || coalesce(month, 'an unknown month') || ', part ' || part, 1
FROM months
WHERE NOT contains(place, '/month=' || coalesce(month, 'unknown') || '/')
UNION ALL
SELECT file, NULL, 'sessions of other formats than its folder says', count(*)
FROM sessions
WHERE NOT starts_with(place, 'source=' || source || '/')
GROUP BY ALL
UNION ALL
SELECT file, NULL, 'sessions ' || CASE WHEN has_text THEN 'with' ELSE 'without' END || ' texts in a dataset that is to hold '
       || CASE WHEN has_text THEN 'none' ELSE 'them' END, count(*)
FROM sessions
WHERE has_text <> getvariable('with_text')
GROUP BY ALL
