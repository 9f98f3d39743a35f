-- Shell output by kind
--
-- Results of shell commands by the kind of their output, which decides how they may be compressed: source text must
-- stay, searches and logs have repetition.
--
-- Columns:
--   output_kind       source, search, log, other; NULL unknown
--   results           results that at least one request carried
--   tokens            raw tokens of those results, each once
--   carried_tokens    raw tokens over all requests that carried them
--   billed_tokens     the same as the provider counts; 0 where it reported no usage
SELECT c.output_kind,
       count(*) AS results,
       sum(i.tokens)::BIGINT AS tokens,
       sum(i.carried_tokens)::BIGINT AS carried_tokens,
       sum(i.billed_tokens)::DOUBLE AS billed_tokens
FROM calls c
JOIN carried_items i ON i.part = c.part AND i.session_id = c.session_id AND i.item = c.result_item
WHERE c.class = 'shell'
GROUP BY c.output_kind
ORDER BY 4 DESC, c.output_kind
