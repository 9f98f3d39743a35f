-- Numbers are possible
--
-- Sizes, counts and lines are 0 or more, runs and attempts 1 or more, and no part of something is more than the whole.
--
-- Do: import the log again into a new dataset, and report a bug: the importer writes no such numbers
SELECT file, session_id, 'requests with negative or impossible numbers' AS detail, count(*) AS count
FROM requests
WHERE least(counted_tokens, chain, line) < 0 OR least(request, run, attempt) < 1
GROUP BY ALL
UNION ALL
SELECT file, session_id, 'items with negative sizes', count(*)
FROM items
WHERE least(coalesce(tokens, 0), chars, bytes, prefix_tokens, prefix_lines) < 0 OR chars > bytes
GROUP BY ALL
UNION ALL
SELECT file, session_id, 'spans with negative sizes', count(*)
FROM spans
WHERE least(coalesce(tokens, 0), chars, bytes, requests, prefix_tokens) < 0 OR chars > bytes
GROUP BY ALL
UNION ALL
SELECT file, session_id, 'calls in a batch of none', count(*)
FROM calls
WHERE batch_size < 1 OR coalesce(full_chars, 0) < 0
GROUP BY ALL
UNION ALL
SELECT file, session_id, 'problems counted less than once', count(*)
FROM problems
WHERE count < 1
GROUP BY ALL
