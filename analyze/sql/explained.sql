-- How much of the recorded growth the logged content explains
--
-- Per session and model.
--
-- Columns:
--   session_id             the agent's own ID
--   model                  model as logged; NULL unknown
--   encoding               tokenizer behind the raw counts
--   public_encoding        it is the model's own
--   factor                 provider tokens per raw token
--   factor_low             lower quartile of the single ratios
--   factor_high            upper quartile
--   framing_per_message    provider tokens per message that belong to no text
--   pairs                  pairs of requests scored
--   explained              1 - sum |residual| / sum |growth|; NULL where nothing could be scored
--   left_out               pairs left out
--   cause                  why, where explained is below 0.80
SELECT s.session_id, c.model, s.encoding, s.public_encoding, c.factor, c.factor_low, c.factor_high, c.framing_per_message,
       0::BIGINT AS pairs, NULL::DOUBLE AS explained, 0::BIGINT AS left_out, NULL::VARCHAR AS cause
FROM calibration c
JOIN sessions s USING (part, session_id)
WHERE c.fit = 'all' AND c.kind IS NULL
ORDER BY s.session_id, c.model
