-- Sessions whose file lost text or usage since an earlier import are problems, too:
-- the earlier part is kept outside all totals, and can still be read. And so are
-- those of which another copy went its own way. It is only run where a session stands
-- in several parts.
INSERT INTO problems BY NAME
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
unbilled AS (
  SELECT p.source, p.part, p.session_id, p.file, count(*) AS count
  FROM superseded p
  JOIN raw_requests r ON r.source = p.source AND r.stem = p.old_stem AND r.part = p.old_part AND r.session_id = p.session_id
  WHERE NOT r.inherited AND coalesce(r.input_tokens, r.output_tokens) IS NOT NULL
    AND NOT EXISTS (
      FROM raw_requests n
      WHERE n.source = p.source AND n.stem = p.stem AND n.part = p.part AND n.session_id = p.session_id
        AND n.response_id IS NOT DISTINCT FROM r.response_id
        AND n.input_tokens IS NOT DISTINCT FROM r.input_tokens AND n.output_tokens IS NOT DISTINCT FROM r.output_tokens)
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
SELECT source, part, session_id, file, 0::BIGINT AS line, 'text-gone' AS kind,
       'logged texts are gone from the file since an earlier import; that import is kept outside all totals and its texts can be read by hash' AS detail,
       count
FROM gone
UNION ALL BY NAME
SELECT source, part, session_id, file, 0::BIGINT AS line, 'usage-gone' AS kind,
       'usage of requests is gone from the file since an earlier import; that import is kept outside all totals' AS detail,
       count
FROM unbilled
UNION ALL BY NAME
SELECT source, part, session_id, file, 0::BIGINT AS line, 'copy-diverges' AS kind,
       'this copy of a session holds responses that the longer copy, which counts, lacks; they are in no total' AS detail,
       count
FROM diverging;
