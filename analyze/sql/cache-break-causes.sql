-- Cache breaks by cause
--
-- What ended the cached prefix, how often, and how much of the input it cost again. See cache-breaks for the causes.
--
-- Columns:
--   cause             what ended the cached prefix
--   requests          requests where it did
--   lost_tokens       previous input - cache read, added up
--   resent_tokens     the part of lost_tokens that was sent again
--   share_of_input    lost_tokens of all input tokens, 0 to 1
SELECT cause,
       count(*) AS requests,
       sum(lost_tokens)::BIGINT AS lost_tokens,
       sum(resent_tokens)::BIGINT AS resent_tokens,
       sum(lost_tokens)::DOUBLE / nullif((SELECT sum(input_tokens) FROM requests WHERE counts), 0) AS share_of_input
FROM steps
WHERE cause IS NOT NULL
GROUP BY cause
ORDER BY 3 DESC, cause
