-- How tokens were counted, and how much of the recorded growth that explains
--
-- For every session and model: the tokenizer, the factor from its counts to the provider's tokens, and how well the
-- logged content predicts what the input grew by from one request to the next of the same run:
-- explained = 1 - sum |growth - predicted| / sum |growth|. Scored on requests with an odd number, predicted by the fit
-- on those with an even number (calibration, fit = 'even'); package measure documents the formulas. Pairs of requests
-- across a compaction, a clearing, or an output that is not final are left out and counted.
--
-- Columns:
--   session_id             the agent's own ID
--   model                  model as logged; NULL unknown
--   encoding               tokenizer behind the raw counts
--   public_encoding        it is the model's own
--   factor                 provider tokens per raw token, fitted on all requests
--   factor_low             lower quartile of the ratios of single requests
--   factor_high            upper quartile
--   framing_per_message    provider tokens per message that belong to no text
--   pairs                  pairs of requests scored
--   explained              1 - sum |residual| / sum |growth|; NULL where nothing could be scored
--   left_out               pairs left out
--   cause                  why, where explained is below 0.80; NULL otherwise
WITH scores AS (
  SELECT part, session_id, model,
         count(*) FILTER (WHERE left_out IS NULL AND request % 2 = 1) AS pairs,
         sum(abs(growth - predicted)) FILTER (WHERE left_out IS NULL AND request % 2 = 1) AS missed,
         sum(abs(growth)) FILTER (WHERE left_out IS NULL AND request % 2 = 1) AS total,
         count(left_out) AS left_out,
         count(*) FILTER (WHERE left_out = 'non-final output') AS non_final
  FROM growth_pairs
  GROUP BY ALL
),
scored AS (
  SELECT s.session_id AS session_id, c.model AS model, s.encoding, s.public_encoding, c.factor, c.factor_low, c.factor_high, c.framing_per_message,
         coalesce(g.pairs, 0) AS pairs,
         (1 - g.missed / nullif(g.total, 0))::DOUBLE AS explained,
         coalesce(g.left_out, 0) AS left_out,
         coalesce(g.non_final, 0) AS non_final,
         c.method, s.missing
  FROM calibration c
  JOIN sessions s USING (part, session_id)
  SEMI JOIN requests r ON r.part = c.part AND r.session_id = c.session_id AND r.model IS NOT DISTINCT FROM c.model
                      AND r.counts AND r.status = 'answered' AND r.input_tokens IS NOT NULL
  LEFT JOIN scores g ON g.part = c.part AND g.session_id = c.session_id AND g.model IS NOT DISTINCT FROM c.model
  WHERE c.fit = 'all' AND c.kind IS NULL
)
SELECT session_id, model, encoding, public_encoding, factor, factor_low, factor_high, framing_per_message,
       pairs, explained, left_out,
       CASE WHEN explained IS NULL OR explained >= 0.8 THEN NULL
            WHEN method LIKE 'default%' THEN 'too few requests to fit the tokenizer'
            WHEN regexp_matches(array_to_string(missing, ', '), '(?i)reminder|to-?do')
              THEN 'reminders that the log does not hold come and go'
            WHEN pairs < 8 THEN 'too few requests to tell'
            WHEN non_final > pairs THEN 'most outputs in the log are not final'
            WHEN len(missing) > 0 THEN 'the log does not hold: ' || array_to_string(missing, ', ')
            ELSE 'unknown'
       END AS cause
FROM scored
ORDER BY session_id, model
