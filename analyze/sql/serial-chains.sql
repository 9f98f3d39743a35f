-- Serial chains of read-only calls
--
-- Consecutive responses of one run that each asked for exactly one read-only call, although the calls could have
-- shared one response: a chain of n calls could have saved up to n - 1 requests. Two calls are linked only where
-- the later one does not seem to depend on the earlier result: no word of at least 6 characters in its arguments
-- stands in that result unless it also stands in the earlier arguments. This is a cheap test and errs both ways: a
-- short name learnt from a result is missed, a common word in a long result cuts a chain. Where the dataset holds
-- no text nothing can be told and every link counts.
--
-- Columns:
--   session_id            the agent's own ID
--   chain                 conversation within the session, 0 the main one
--   run                   run of the session
--   first_request         request whose response made the first call of the chain
--   last_request          request whose response made the last one
--   calls                 n, calls in the chain
--   removable_requests    n - 1, requests that one wide response would have saved at most
--   input_tokens          input of those requests
--   output_tokens         output of those requests
--   tools                 tools of the calls, in order
SELECT session_id, chain, run, first_request, last_request, calls, removable_requests, input_tokens, output_tokens, tools
FROM serial_chains
ORDER BY session_id, chain, first_request
