INSERT INTO problems (part, session_id, file, line, kind, detail, "count", source, month)
WITH superseded AS (
  SELECT s.source AS source, s.part AS part, s.session_id AS session_id, n.stem AS stem, n.file AS file, o.stem AS old_stem, o.part AS old_part
  FROM selected s
  JOIN committed_parts n USING (source, stem, part, session_id)
  JOIN committed_parts o ON o.source = s.source AND o.session_id = s.session_id AND o.part <> s.part AND o.file = n.file
),
gone AS (
  SELECT p.source AS source, p.part AS part, p.session_id AS session_id, p.file AS file, count(DISTINCT i.text_hash)::BIGINT AS "count"
  FROM superseded p
  JOIN raw_items i ON i.source = p.source AND i.stem = p.old_stem AND i.part = p.old_part AND i.session_id = p.session_id
  WHERE i.origin = 'logged'
    AND (p.source, p.stem, p.part, p.session_id, i.text_hash) NOT IN (
      SELECT source, stem, part, session_id, text_hash FROM raw_items WHERE origin = 'logged')
  GROUP BY ALL
),
unbilled AS (
  SELECT p.source AS source, p.part AS part, p.session_id AS session_id, p.file AS file, count()::BIGINT AS "count"
  FROM superseded p
  JOIN raw_requests r ON r.source = p.source AND r.stem = p.old_stem AND r.part = p.old_part AND r.session_id = p.session_id
  WHERE NOT r.inherited AND coalesce(r.input_tokens, r.output_tokens) IS NOT NULL
    AND (p.source, p.stem, p.part, p.session_id, coalesce(r.response_id, ''), coalesce(r.input_tokens, -1), coalesce(r.output_tokens, -1)) NOT IN (
      SELECT source, stem, part, session_id, coalesce(response_id, ''), coalesce(input_tokens, -1), coalesce(output_tokens, -1) FROM raw_requests)
  GROUP BY ALL
),
diverging AS (
  SELECT s.source AS source, s.part AS part, s.session_id AS session_id, o.file AS file, count(DISTINCT r.response_id)::BIGINT AS "count"
  FROM selected s
  JOIN committed_parts o ON o.source = s.source AND o.session_id = s.session_id AND o.part <> s.part
  JOIN raw_requests r ON r.source = o.source AND r.stem = o.stem AND r.part = o.part AND r.session_id = o.session_id
  WHERE NOT r.inherited AND r.response_id IS NOT NULL
    AND (r.source, r.response_id) NOT IN (
      SELECT source, response_id FROM raw_requests
      WHERE response_id IS NOT NULL
        AND (source, stem, part, session_id) IN (SELECT source, stem, part, session_id FROM current_parts))
  GROUP BY ALL
)
SELECT part, session_id, file, 0, 'text-gone',
       'logged texts are gone from the file since an earlier import; that import is kept outside all totals and its texts can be read by hash',
       "count", source, NULL
FROM gone
UNION ALL
SELECT part, session_id, file, 0, 'usage-gone',
       'usage of requests is gone from the file since an earlier import; that import is kept outside all totals', "count", source, NULL
FROM unbilled
UNION ALL
SELECT part, session_id, file, 0, 'copy-diverges',
       'this copy of a session holds responses that the longer copy, which counts, lacks; they are in no total', "count", source, NULL
FROM diverging;
