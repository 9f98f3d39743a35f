-- As in the file of this name for DuckDB, which says why.
CREATE VIEW estimates AS
SELECT * EXCEPT (stem)
FROM raw_estimates
WHERE (source, part, session_id) IN (SELECT source, part, session_id FROM selected)
QUALIFY row_number() OVER (
  PARTITION BY source, part, session_id, variant, options
  ORDER BY rules DESC, prices_date DESC NULLS LAST, prices, stem
) = 1;

CREATE VIEW outcomes AS
SELECT * EXCEPT (stem, month)
FROM raw_outcomes
QUALIFY row_number() OVER (PARTITION BY outcome ORDER BY stem) = 1;
