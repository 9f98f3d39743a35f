-- Keeps the sessions whose hashes are smallest: as good as drawn, and the same
-- whatever else the dataset holds in front of or behind them.
DELETE FROM selected
WHERE (source, session_id) NOT IN (
  SELECT (source, session_id)
  FROM selected
  ORDER BY md5(concat_ws('/', ?::BIGINT, source, session_id)), source, session_id
  LIMIT ?::BIGINT
)
