-- Texts of the heaviest content
--
-- The beginnings of the pieces of content that top-items lists, as they were logged. Empty where the dataset holds no
-- texts.
--
-- Parameters: session (NULL all), limit (pieces of content)
--
-- Columns:
--   session_id    the agent's own ID
--   item          number of the piece within the session
--   text          up to its first 4,000 characters
--   chars         characters of the whole text
WITH input AS (
  SELECT count(calibrated_tokens) AS calibrated FROM requests WHERE counts
),
heaviest AS (
  SELECT part, session_id, item,
         row_number() OVER (ORDER BY CASE WHEN calibrated > 0 THEN billed_tokens ELSE carried_tokens::DOUBLE END DESC, session_id, item) AS place
  FROM carried_items
  CROSS JOIN input
  WHERE $session IS NULL OR session_id = $session
  QUALIFY place <= $limit
)
SELECT h.session_id, h.item, left(t."text", 4000) AS "text", length(t."text") AS chars
FROM heaviest h
JOIN items i USING (part, session_id, item)
JOIN texts t ON t.text_hash = i.text_hash
ORDER BY h.place
