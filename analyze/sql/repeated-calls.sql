-- Repeated calls
--
-- Calls made more than once in a session, most expensive first. repeats is FreeCode's definition: the same tool and
-- arguments as sent, anywhere in the session, whatever happened in between. strict_repeats counts only calls with
-- equal arguments (key order and the like apart) where nothing in between could have changed the result. Polls and
-- to-do lists are repeated by design: class tells them apart.
--
-- Columns:
--   session_id        the agent's own ID
--   tool              tool
--   class             what the tool does; poll for every call that asks for the state of background work
--   args              arguments of the first such call; NULL where the dataset holds no text
--   times             calls with these arguments
--   repeats           repeats by FreeCode's definition
--   strict_repeats    repeats by the strict definition
--   tokens            raw tokens of all results but the first
--   carried_tokens    raw tokens of those results over all requests that carried them
WITH numbered AS (
  SELECT c.*,
         CASE WHEN poll IS NOT NULL THEN 'poll' ELSE class END AS shown_class,
         row_number() OVER (PARTITION BY part, session_id, tool, args_key ORDER BY call) AS nth
  FROM calls c
  WHERE counts AND ran
)
SELECT n.session_id, n.tool,
       min_by(n.shown_class, n.call) AS class,
       min_by(n.args, n.call) AS args,
       count(*) AS times,
       count(n.repeat_of) AS repeats,
       count(n.strict_repeat_of) AS strict_repeats,
       coalesce(sum(i.tokens) FILTER (WHERE n.nth > 1), 0)::BIGINT AS tokens,
       coalesce(sum(i.carried_tokens) FILTER (WHERE n.nth > 1), 0)::BIGINT AS carried_tokens
FROM numbered n
LEFT JOIN carried_items i ON i.part = n.part AND i.session_id = n.session_id AND i.item = n.result_item
GROUP BY n.part, n.session_id, n.tool, n.args_key
HAVING count(n.repeat_of) + count(n.strict_repeat_of) > 0
ORDER BY 9 DESC, times DESC, n.session_id, min(n.call)
