-- The tables of the selected sessions, as in the file of this name for DuckDB, which
-- says why.
CREATE TABLE sessions AS
SELECT r.* EXCEPT (stem) FROM raw_sessions r WHERE (source, stem, part, session_id) IN (SELECT source, stem, part, session_id FROM selected);

CREATE TABLE chosen_requests AS
SELECT r.* EXCEPT (stem) FROM raw_requests r WHERE (source, stem, part, session_id) IN (SELECT source, stem, part, session_id FROM selected);

CREATE TABLE reported AS
SELECT r.* EXCEPT (stem) FROM raw_reported r WHERE (source, stem, part, session_id) IN (SELECT source, stem, part, session_id FROM selected);

CREATE TABLE price_of AS
WITH used AS (
  SELECT DISTINCT provider, model, regexp_extract(model, '[^/]*$', 0) AS bare
  FROM chosen_requests
  WHERE model IS NOT NULL
  UNION DISTINCT
  SELECT NULL, model, regexp_extract(model, '[^/]*$', 0)
  FROM reported
  WHERE model IS NOT NULL
)
SELECT u.provider AS used_provider, u.model AS used_model, p.* EXCEPT (provider, model)
FROM used u
CROSS JOIN prices p
WHERE (p.model IN (u.model, u.bare) AND (p.provider IS NULL OR u.provider IS NULL OR p.provider = u.provider))
   OR p.model = u.provider || '/' || u.model
QUALIFY row_number() OVER (
  PARTITION BY u.provider, u.model
  ORDER BY CASE
      WHEN p.model = u.model AND p.provider = u.provider THEN 1
      WHEN p.model = u.provider || '/' || u.model THEN 2
      WHEN p.model = u.model AND p.provider IS NULL THEN 3
      WHEN p.model = u.model THEN 4
      WHEN p.provider = u.provider THEN 5
      WHEN p.provider IS NULL THEN 6
      ELSE 7
    END, p.provider
) = 1;

-- Names that stand in two joined tables would come out of r.* with their table's name
-- before them.
CREATE TABLE requests AS
WITH copies AS (
  SELECT source AS copied_source, session_id AS copied_session, request_index AS copied_index FROM copied_requests
),
split AS (
  SELECT r.*,
         NOT r.inherited AND k.copied_index IS NULL AS counts,
         coalesce(r.cache_read_tokens, 0) AS cached,
         coalesce(r.cache_write_1h_tokens, 0) AS written_1h,
         greatest(coalesce(r.cache_write_tokens, r.cache_write_5m_tokens + written_1h, r.cache_write_5m_tokens, written_1h) - written_1h, 0) AS written_5m,
         coalesce(r.input_tokens > p.long_above, false) AS long
  FROM chosen_requests r
  LEFT JOIN copies k ON k.copied_source = r.source AND k.copied_session = r.session_id AND k.copied_index = r.request_index
  LEFT JOIN price_of p ON p.used_model = r.model AND p.used_provider IS NOT DISTINCT FROM r.provider
),
priced AS (
SELECT s.* EXCEPT (cached, written_1h, written_5m, long),
       CASE WHEN s.subscription THEN NULL ELSE (
           (s.input_tokens - s.cached - s.written_5m - s.written_1h)
                          * CASE WHEN s.long THEN coalesce(p.long_input, p.input) ELSE p.input END
         + CASE WHEN s.cached = 0 THEN 0 ELSE s.cached
                          * CASE WHEN s.long THEN coalesce(p.long_cache_read, p.cache_read) ELSE p.cache_read END END
         + CASE WHEN s.written_5m = 0 THEN 0 ELSE s.written_5m
                          * CASE WHEN s.long THEN coalesce(p.long_cache_write_5m, p.cache_write_5m) ELSE p.cache_write_5m END END
         + CASE WHEN s.written_1h = 0 THEN 0 ELSE s.written_1h
                          * CASE WHEN s.long THEN coalesce(p.long_cache_write_1h, p.cache_write_1h) ELSE p.cache_write_1h END END
         + s.output_tokens * CASE WHEN s.long THEN coalesce(p.long_output, p.output) ELSE p.output END
       ) / 1e6 END AS computed_usd
FROM split s
LEFT JOIN price_of p ON p.used_model = s.model AND p.used_provider IS NOT DISTINCT FROM s.provider
)
SELECT * EXCEPT (computed_usd),
       CASE WHEN subscription THEN NULL ELSE coalesce(computed_usd, logged_usd) END AS cost_usd,
       CASE WHEN cost_usd IS NULL THEN NULL WHEN computed_usd IS NOT NULL THEN 'computed' ELSE 'logged' END AS cost_basis
FROM priced;

DROP TABLE chosen_requests;

CREATE TABLE items AS
SELECT r.* EXCEPT (stem) FROM raw_items r WHERE (source, stem, part, session_id) IN (SELECT source, stem, part, session_id FROM selected);

CREATE TABLE spans AS
SELECT r.* EXCEPT (stem) FROM raw_spans r WHERE (source, stem, part, session_id) IN (SELECT source, stem, part, session_id FROM selected);

CREATE TABLE calls AS
WITH made AS (
  SELECT source AS made_source, part AS made_part, session_id AS made_session, request_index AS made_index, counts AS made_counts FROM requests
)
SELECT c.* EXCEPT (stem), NOT c.inherited AND coalesce(q.made_counts, true) AS counts
FROM raw_calls c
LEFT JOIN made q ON q.made_source = c.source AND q.made_part = c.part AND q.made_session = c.session_id AND q.made_index = c.request_index
WHERE (c.source, c.stem, c.part, c.session_id) IN (SELECT source, stem, part, session_id FROM selected);

CREATE TABLE other_billed AS
WITH holders AS (
  SELECT source AS held_source, stem AS held_stem, part AS held_part, session_id AS held_session, forked_from, started_at, ended_at FROM current_parts
),
firsts AS (
  SELECT r.*,
         first_value(r.session_id) OVER (
           PARTITION BY r.source, r.kind, r."time", r.model, r.input_tokens, r.output_tokens
           ORDER BY c.forked_from IS NOT NULL, c.started_at NULLS LAST, c.ended_at NULLS LAST, r.session_id
         ) AS first_session
  FROM raw_other_billed r
  JOIN holders c ON c.held_source = r.source AND c.held_stem = r.stem AND c.held_part = r.part AND c.held_session = r.session_id
)
SELECT f.* EXCEPT (stem, first_session)
FROM firsts f
WHERE (source, stem, part, session_id) IN (SELECT source, stem, part, session_id FROM selected)
  AND (f."time" IS NULL OR f.first_session = f.session_id);

CREATE TABLE whole_usage AS
WITH logged AS (
  SELECT source, part, session_id,
         count(input_tokens) AS inputs,
         count(output_tokens) > 0 AS any_output,
         min(output_tokens IS NOT NULL) FILTER (WHERE status = 'answered' AND counts) AS all_outputs,
         bool_or(subscription) AS subscribed
  FROM requests
  GROUP BY source, part, session_id
),
silent AS (
  SELECT source, part, session_id,
         coalesce(q.any_output, false) AS any_output,
         coalesce(q.all_outputs, false) AS all_outputs,
         coalesce(q.subscribed, false) AS subscribed
  FROM sessions s
  LEFT JOIN logged q USING (source, part, session_id)
  WHERE coalesce(q.inputs, 0) = 0
),
model_of AS (
  SELECT source, part, session_id, any_value(model) AS model, any_value(provider) AS provider
  FROM requests
  WHERE counts AND model IS NOT NULL
  GROUP BY ALL
  HAVING count(DISTINCT (model, provider)) = 1 AND NOT bool_or(subscription)
),
chosen AS (
  SELECT source, part, session_id, r.requests, r.input_tokens, r.cache_read_tokens, r.cache_write_tokens, r.cache_write_1h_tokens,
         r.output_tokens, r.reasoning_tokens, CASE WHEN NOT q.subscribed THEN r.cost_usd END AS cost_usd,
         q.any_output, q.all_outputs,
         CASE WHEN NOT q.subscribed THEN coalesce(r.model, m.model) END AS price_model,
         CASE WHEN r.model IS NULL THEN m.provider END AS price_provider
  FROM reported r
  JOIN silent q USING (source, part, session_id)
  LEFT JOIN model_of m USING (source, part, session_id)
  QUALIFY r.model IS NULL OR NOT max(r.model IS NULL) OVER (PARTITION BY r.source, r.part, r.session_id)
),
costed AS (
  SELECT c.*,
         CASE WHEN p.long_above IS NULL OR c.input_tokens <= p.long_above THEN (
             (c.input_tokens - coalesce(c.cache_read_tokens, 0) - coalesce(c.cache_write_tokens, 0)) * p.input
           + CASE WHEN coalesce(c.cache_read_tokens, 0) = 0 THEN 0 ELSE c.cache_read_tokens * p.cache_read END
           + CASE WHEN coalesce(c.cache_write_tokens, 0) = 0 THEN 0
                  ELSE (c.cache_write_tokens - coalesce(c.cache_write_1h_tokens, 0)) * p.cache_write_5m
                     + CASE WHEN coalesce(c.cache_write_1h_tokens, 0) = 0 THEN 0 ELSE c.cache_write_1h_tokens * p.cache_write_1h END END
           + c.output_tokens * p.output
         ) / 1e6 END AS computed_usd
  FROM chosen c
  LEFT JOIN price_of p ON p.used_model = c.price_model AND p.used_provider IS NOT DISTINCT FROM c.price_provider
)
SELECT source, part, session_id,
       sum(requests)::BIGINT AS requests,
       sum(input_tokens)::BIGINT AS input_tokens,
       sum(input_tokens - coalesce(cache_read_tokens, 0) - coalesce(cache_write_tokens, 0))::BIGINT AS uncached_input_tokens,
       sum(cache_read_tokens)::BIGINT AS cache_read_tokens,
       sum(cache_write_tokens)::BIGINT AS cache_write_tokens,
       sum(output_tokens)::BIGINT AS output_tokens,
       sum(reasoning_tokens)::BIGINT AS reasoning_tokens,
       sum(coalesce(computed_usd, cost_usd))::DOUBLE AS cost_usd,
       count(*) FILTER (WHERE coalesce(computed_usd, cost_usd) IS NULL) > 0 AS cost_partial,
       sum(CASE WHEN computed_usd IS NULL THEN cost_usd END)::DOUBLE AS logged_cost_usd,
       bool_or(all_outputs) AS outputs_of_requests
FROM costed
GROUP BY ALL
HAVING NOT bool_or(any_output) OR count(input_tokens) > 0;

CREATE VIEW usage_rows AS
SELECT source, part, session_id, r.model AS model, r."time", 1 AS requests,
       r.input_tokens, r.cache_read_tokens, r.cache_write_tokens,
       CASE WHEN w.session_id IS NULL OR w.outputs_of_requests OR w.output_tokens IS NULL THEN r.output_tokens END AS output_tokens, r.cost_usd,
       r.status = 'answered' AND r.cost_usd IS NULL AND (w.session_id IS NULL OR w.cost_partial) AS unpriced
FROM requests r
LEFT JOIN whole_usage w USING (source, part, session_id)
WHERE r.counts
UNION ALL
SELECT w.source, w.part, w.session_id, m.model, s.started_at, 0,
       w.input_tokens, w.cache_read_tokens, w.cache_write_tokens,
       CASE WHEN NOT w.outputs_of_requests THEN w.output_tokens END, CASE WHEN m.cost_usd IS NULL THEN w.cost_usd END, false
FROM whole_usage w
JOIN sessions s USING (source, part, session_id)
LEFT JOIN (
  SELECT source, part, session_id, sum(cost_usd) AS cost_usd, CASE WHEN count(DISTINCT coalesce(model, '')) = 1 THEN any_value(model) END AS model
  FROM requests
  WHERE counts
  GROUP BY ALL
) m USING (source, part, session_id);

CREATE TABLE calibration AS
SELECT r.* EXCEPT (stem) FROM raw_calibration r WHERE (source, stem, part, session_id) IN (SELECT source, stem, part, session_id FROM selected);

CREATE TABLE problems AS
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
exceeding AS (
  SELECT source, part, session_id, s.file AS file,
         count(*)::BIGINT AS "count",
         sum(-q.unlogged_tokens) AS tokens,
         sum(q.input_tokens) AS input
  FROM requests q
  JOIN sessions s USING (source, part, session_id)
  WHERE q.counts AND -q.unlogged_tokens > 2000 AND -q.unlogged_tokens > 0.25 * q.input_tokens
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
SELECT part, session_id, file, line, kind, detail, "count", source, month
FROM raw_problems
WHERE (source, stem, part, session_id) IN (SELECT source, stem, part, session_id FROM selected)
UNION ALL
SELECT part, session_id, file, 0, 'text-gone',
       'logged texts are gone from the file since an earlier import; that import is kept outside all totals and its texts can be read by hash',
       "count", source, NULL
FROM gone
UNION ALL
SELECT part, session_id, file, 0, 'content-exceeds-input',
       'the content logged for requests with ' || in_thousands(input) || ' input tokens exceeds them by ' || in_thousands(tokens)
         || ' tokens: it was not sent as logged, or the usage is wrong',
       "count", source, NULL
FROM exceeding
UNION ALL
SELECT part, session_id, file, 0, 'copy-diverges',
       'this copy of a session holds responses that the longer copy, which counts, lacks; they are in no total', "count", source, NULL
FROM diverging;

CREATE VIEW texts AS
SELECT text_hash, any_value("text") AS "text"
FROM raw_texts
WHERE (source, stem, part, session_id) IN (SELECT source, stem, part, session_id FROM committed_parts)
GROUP BY text_hash;
