-- What replays found out about the selected sessions, each session once for every
-- variant and its options: by the newest rules, then the newest prices. Estimates of
-- parts that another one has replaced do not count.
CREATE VIEW estimates AS
SELECT e.* EXCLUDE (stem)
FROM raw_estimates e
SEMI JOIN selected USING (source, part, session_id)
QUALIFY row_number() OVER (
  PARTITION BY e.source, e.part, e.session_id, e.variant, e.options
  ORDER BY e.rules DESC, e.prices_date DESC NULLS LAST, e.prices, e.stem
) = 1;

-- What became of predictions: every comparison once.
CREATE VIEW outcomes AS
SELECT o.* EXCLUDE (stem, month)
FROM raw_outcomes o
QUALIFY row_number() OVER (PARTITION BY o.outcome ORDER BY o.stem) = 1;
