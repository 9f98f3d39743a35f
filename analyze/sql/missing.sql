-- What the logs do not hold
--
-- Content that was sent but stands in no log; its tokens are in the unlogged part of the composition.
--
-- Columns:
--   what        what is missing
--   sessions    sessions whose log lacks it
SELECT what, count(*) AS sessions
FROM (SELECT unnest(missing) AS what FROM sessions)
GROUP BY what
ORDER BY sessions DESC, what
