-- Overlapping re-reads
--
-- Reads of a file part that an earlier read had already brought and that was still in the conversation: same path,
-- overlapping ranges, and no edit of that file, nor a call that may have changed any file, in between. A read
-- without a range counts as the whole file. The tokens are those of the whole later result, an upper bound where
-- only a part overlaps.
--
-- Columns:
--   session_id        the agent's own ID
--   call              the later read
--   earlier_call      the latest earlier read it overlaps with
--   path              file
--   earlier_range     OFFSET:LIMIT of the earlier read; NULL the whole file
--   range             OFFSET:LIMIT of the later read; NULL the whole file
--   tokens            raw tokens of the later result
--   carried_tokens    raw tokens of the later result over all requests that carried it
SELECT session_id, call, earlier_call, path, earlier_range, "range", tokens, carried_tokens
FROM overlapping_reads
ORDER BY carried_tokens DESC, session_id, call
