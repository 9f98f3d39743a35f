-- Sessions whose file lost text since an earlier import are named here: the
-- earlier part is kept outside all totals, its texts can still be read. So are
-- sessions whose log holds far more than was sent: an error of calibration and an
-- unlogged clearing stay below a quarter of the input, and below 2,000 tokens
-- nothing can be told. And so are those of which another copy went its own way.
CREATE TABLE problems AS
WITH superseded AS (
  SELECT s.source, s.part, s.session_id, n.stem, n.file, o.stem AS old_stem, o.part AS old_part
  FROM selected s
  JOIN committed_parts n USING (source, stem, part, session_id)
  JOIN committed_parts o ON o.source = s.source AND o.session_id = s.session_id AND o.part <> s.part AND o.file = n.file
),
gone AS (
  SELECT p.source, p.part, p.session_id, p.file, count(DISTINCT i.text_hash) AS count
  FROM superseded p
  JOIN raw_items i ON i.source = p.source AND i.stem = p.old_stem AND i.part = p.old_part AND i.session_id = p.session_id
  WHERE i.origin = 'logged'
    AND NOT EXISTS (
      FROM raw_items j
      WHERE j.source = p.source AND j.stem = p.stem AND j.part = p.part AND j.session_id = p.session_id
        AND j.text_hash = i.text_hash AND j.origin = 'logged')
  GROUP BY ALL
),
exceeding AS (
  SELECT q.source, q.part, q.session_id, s.file,
         count(*) AS count,
         sum(-q.unlogged_tokens) AS tokens,
         sum(q.input_tokens) AS input
  FROM requests q
  JOIN sessions s USING (source, part, session_id)
  WHERE q.counts AND -q.unlogged_tokens > 2000 AND -q.unlogged_tokens > 0.25 * q.input_tokens
  GROUP BY ALL
),
diverging AS (
  SELECT s.source, s.part, s.session_id, o.file, count(DISTINCT r.response_id) AS count
  FROM selected s
  JOIN committed_parts o ON o.source = s.source AND o.session_id = s.session_id AND o.part <> s.part
  JOIN raw_requests r ON r.source = o.source AND r.stem = o.stem AND r.part = o.part AND r.session_id = o.session_id
  WHERE NOT r.inherited AND r.response_id IS NOT NULL
    AND NOT EXISTS (
      FROM raw_requests n
      JOIN current_parts c USING (source, stem, part, session_id)
      WHERE n.source = r.source AND n.response_id = r.response_id)
  GROUP BY ALL
)
SELECT r.* EXCLUDE (stem) FROM raw_problems r JOIN selected USING (source, stem, part, session_id)
UNION ALL BY NAME
SELECT source, part, session_id, file, 0::BIGINT AS line, 'text-gone' AS kind,
       'logged texts are gone from the file since an earlier import; that import is kept outside all totals and its texts can be read by hash' AS detail,
       count
FROM gone
UNION ALL BY NAME
SELECT source, part, session_id, file, 0::BIGINT AS line, 'content-exceeds-input' AS kind,
       format('the content logged for requests with {:,} input tokens exceeds them by {:,} tokens: it was not sent as logged, or the usage is wrong',
              input::BIGINT, tokens::BIGINT) AS detail,
       count
FROM exceeding
UNION ALL BY NAME
SELECT source, part, session_id, file, 0::BIGINT AS line, 'copy-diverges' AS kind,
       'this copy of a session holds responses that the longer copy, which counts, lacks; they are in no total' AS detail,
       count
FROM diverging;
