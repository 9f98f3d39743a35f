-- The outputs that the sessions of one replay showed, by stratum of base rates, and
-- how many were gone back to. Parameters as in estimates.
WITH one AS (
  SELECT e.*
  FROM raw_estimates e
  SEMI JOIN selected USING (source, part, session_id)
  WHERE e.variant = ?::VARCHAR AND e.options = ?::VARCHAR AND e.rules = ?::VARCHAR AND e.prices = ?::VARCHAR
  QUALIFY row_number() OVER (PARTITION BY e.source, e.part, e.session_id ORDER BY e.stem) = 1
)
SELECT s.agent, s.kind, s.band, s.marker, sum(s.cases)::BIGINT, sum(s.recoveries)::BIGINT, 0::BIGINT
FROM (SELECT unnest(observed_outputs) AS s FROM one)
GROUP BY ALL
ORDER BY 1, 2, 3, 4
