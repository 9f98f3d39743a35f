-- What the variant of one replay cuts, by stratum of base rates. Parameters as in
-- estimates.
WITH one AS (
  SELECT e.*
  FROM raw_estimates e
  SEMI JOIN selected USING (source, part, session_id)
  WHERE e.variant = ?::VARCHAR AND e.options = ?::VARCHAR AND e.rules = ?::VARCHAR AND e.prices = ?::VARCHAR
  QUALIFY row_number() OVER (PARTITION BY e.source, e.part, e.session_id ORDER BY e.stem) = 1
)
SELECT s.agent, s.kind, s.band, s.marker, sum(s.items)::BIGINT, sum(s.used)::BIGINT, sum(s.nulls)::BIGINT
FROM (SELECT unnest(detour_strata) AS s FROM one)
GROUP BY ALL
ORDER BY 1, 2, 3, 4
