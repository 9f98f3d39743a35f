-- Polling in total
--
-- What waiting for background work cost: the polling episodes added up, and the polls that rode in responses which
-- also did other work and so cost no request.
--
-- Columns:
--   episodes          chains of responses that only polled
--   polls             polls in those responses
--   empty_polls       polls of those that brought nothing new
--   requests_low      requests that could be saved at least: n - 1 of every episode of n
--   requests_high     requests that could be saved at most: n
--   input_tokens      input of the requests_high requests; NULL unknown
--   output_tokens     output of the same; NULL unknown
--   piggy_backed      polls in responses that also did other work
WITH mixed AS (
  SELECT count(*) FILTER (WHERE poll IS NOT NULL) AS polls
  FROM calls
  WHERE counts AND request_index IS NOT NULL
  GROUP BY part, session_id, request_index
  HAVING bool_or(poll IS NULL)
)
SELECT count(*) AS episodes,
       coalesce(sum(polls), 0)::BIGINT AS polls,
       coalesce(sum(empty_polls), 0)::BIGINT AS empty_polls,
       coalesce(sum(requests_low), 0)::BIGINT AS requests_low,
       coalesce(sum(requests_high), 0)::BIGINT AS requests_high,
       sum(input_tokens)::BIGINT AS input_tokens,
       sum(output_tokens)::BIGINT AS output_tokens,
       (SELECT coalesce(sum(polls), 0)::BIGINT FROM mixed) AS piggy_backed
FROM polling_episodes
