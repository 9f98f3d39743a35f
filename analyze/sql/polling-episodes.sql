-- Polling episodes
--
-- Maximal chains of consecutive responses of one run in which every call asked for the state of background work.
-- If the results rode in the next call that happens anyway, an episode of n such responses would save n requests
-- where other work was going on, n - 1 where the model would only have waited. The tokens are those of all n
-- requests; carried_tokens is what the calls and results cost afterwards, from the request after the episode on.
-- Both are upper bounds: the final result is still needed once.
--
-- Columns:
--   session_id        the agent's own ID
--   chain             conversation within the session, 0 the main one
--   run               run of the session
--   first_request     first request whose response only polled
--   last_request      last one
--   requests_low      n - 1
--   requests_high     n
--   polls             polls in those responses
--   empty_polls       polls that brought nothing new
--   input_tokens      input of the n requests
--   output_tokens     output of the n requests
--   tokens            raw tokens of the polls' arguments and results
--   carried_tokens    raw tokens of those over the counting requests after the episode
--   billed_tokens     the same as the provider counts
SELECT session_id, chain, run, first_request, last_request, requests_low, requests_high, polls, empty_polls, input_tokens, output_tokens, tokens, carried_tokens, billed_tokens
FROM polling_episodes
ORDER BY session_id, chain, first_request
