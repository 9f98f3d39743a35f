-- Composition by kind and tool
--
-- What the requests carried, by kind of content and by tool. Carried tokens are summed over every counting request
-- that carried the content, so they show what it cost and not how large it is. The last rows are what belongs to no
-- logged content: framing, and the part of the recorded input that nothing logged explains. billed_tokens of all
-- rows add up to the recorded input.
--
-- Columns:
--   kind              kind of content, or framing, or unlogged
--   tool              tool of a call or result
--   items             pieces of content that at least one request carried
--   tokens            raw tokens of those pieces, each once
--   carried_tokens    raw tokens over all requests that carried them; provider tokens for framing and unlogged
--   billed_tokens     carried tokens as the provider counts them; NULL where it reported no usage
--   share             of all input tokens, 0 to 1
WITH parts AS (
  SELECT kind, tool,
         count(*) AS items,
         sum(tokens) AS tokens,
         sum(carried_tokens) AS carried_tokens,
         sum(billed_tokens) AS billed_tokens,
         0 AS place
  FROM carried_items
  GROUP BY kind, tool
  UNION ALL
  SELECT 'framing', NULL, 0, 0, sum(framing_tokens), sum(framing_tokens), 1
  FROM requests WHERE counts
  HAVING count(framing_tokens) > 0
  UNION ALL
  SELECT 'unlogged', NULL, 0, 0, sum(unlogged_tokens), sum(unlogged_tokens), 2
  FROM requests WHERE counts
  HAVING count(unlogged_tokens) > 0
),
input AS (
  SELECT sum(input_tokens) AS input_tokens, count(calibrated_tokens) AS calibrated
  FROM requests WHERE counts
)
SELECT kind, tool, items,
       tokens::BIGINT AS tokens,
       carried_tokens::BIGINT AS carried_tokens,
       CASE WHEN calibrated > 0 THEN billed_tokens::DOUBLE END AS billed_tokens,
       CASE WHEN calibrated > 0 THEN billed_tokens / nullif(input_tokens, 0) END AS share
FROM parts, input
ORDER BY place, carried_tokens DESC, kind, tool NULLS FIRST
