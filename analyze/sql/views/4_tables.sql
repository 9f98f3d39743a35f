-- The tables of the selected sessions. A request counts when it was not copied
-- from another session's log and no other request owns its response; totals are
-- sums over what counts.
CREATE TABLE sessions AS
SELECT r.* EXCLUDE (stem) FROM raw_sessions r JOIN selected USING (source, stem, part, session_id)
ORDER BY r.started_at NULLS LAST, r.source, r.session_id;

CREATE TEMP TABLE chosen_requests AS
SELECT r.* EXCLUDE (stem) FROM raw_requests r JOIN selected USING (source, stem, part, session_id);

-- The price of every provider and model in use: the exact key first, then the
-- bare model ID. Nothing is matched by prefix.
CREATE TABLE price_of AS
WITH used AS (
  SELECT DISTINCT r.provider, r.model, regexp_extract(r.model, '[^/]*$') AS bare
  FROM chosen_requests r
  WHERE r.model IS NOT NULL
  UNION
  SELECT NULL, r.model, regexp_extract(r.model, '[^/]*$')
  FROM raw_reported r JOIN selected USING (source, stem, part, session_id)
  WHERE r.model IS NOT NULL
)
SELECT u.provider AS used_provider, u.model AS used_model, p.* EXCLUDE (provider, model)
FROM used u
JOIN prices p ON (p.model IN (u.model, u.bare) AND (p.provider IS NULL OR u.provider IS NULL OR p.provider = u.provider))
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

-- cost_usd is computed from prices; without a price or usage it is what the log
-- itself says, and cost_basis tells which: computed or logged. It is NULL without
-- either, and under a subscription.
-- Cache parts that are not reported were paid as plain input. Writes of unknown
-- lifetime cost what 5 minutes cost.
CREATE TABLE requests AS
WITH split AS (
  SELECT r.*,
         NOT r.inherited AND k.request_index IS NULL AS counts,
         coalesce(r.cache_read_tokens, 0) AS cached,
         coalesce(r.cache_write_1h_tokens, 0) AS written_1h,
         greatest(coalesce(r.cache_write_tokens, r.cache_write_5m_tokens + written_1h, r.cache_write_5m_tokens, written_1h) - written_1h, 0) AS written_5m,
         coalesce(r.input_tokens > p.long_above, false) AS long
  FROM chosen_requests r
  LEFT JOIN copied_requests k USING (source, session_id, request_index)
  LEFT JOIN price_of p ON p.used_model = r.model AND p.used_provider IS NOT DISTINCT FROM r.provider
),
priced AS (
SELECT s.* EXCLUDE (cached, written_1h, written_5m, long),
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
SELECT * EXCLUDE (computed_usd),
       CASE WHEN subscription THEN NULL ELSE coalesce(computed_usd, logged_usd) END AS cost_usd,
       CASE WHEN cost_usd IS NULL THEN NULL WHEN computed_usd IS NOT NULL THEN 'computed' ELSE 'logged' END AS cost_basis
FROM priced
ORDER BY source, session_id, request_index;

DROP TABLE chosen_requests;

CREATE TABLE items AS
SELECT r.* EXCLUDE (stem) FROM raw_items r JOIN selected USING (source, stem, part, session_id);

CREATE TABLE spans AS
SELECT r.* EXCLUDE (stem) FROM raw_spans r JOIN selected USING (source, stem, part, session_id);

CREATE TABLE calls AS
SELECT c.* EXCLUDE (stem), NOT c.inherited AND coalesce(q.counts, true) AS counts
FROM raw_calls c
JOIN selected USING (source, stem, part, session_id)
LEFT JOIN requests q USING (source, part, session_id, request_index);

-- A session's copied history may hold such calls too: those of one time and usage
-- stand in the oldest session only.
CREATE TABLE other_billed AS
WITH firsts AS (
  SELECT r.* EXCLUDE (stem), r.stem,
         first_value(r.session_id) OVER (
           PARTITION BY r.source, r.kind, r."time", r.model, r.input_tokens, r.output_tokens
           ORDER BY c.forked_from IS NOT NULL, c.started_at NULLS LAST, c.ended_at NULLS LAST, r.session_id
         ) AS first_session
  FROM raw_other_billed r
  JOIN current_parts c USING (source, stem, part, session_id)
)
SELECT f.* EXCLUDE (stem, first_session)
FROM firsts f
JOIN selected USING (source, stem, part, session_id)
WHERE f."time" IS NULL OR f.first_session = f.session_id;

CREATE TABLE reported AS
SELECT r.* EXCLUDE (stem) FROM raw_reported r JOIN selected USING (source, stem, part, session_id);

-- What stands for the usage of a session as a whole: the sums its log reports, where
-- no request of it has an input, be it counted here or in another log. Where requests
-- have outputs, only a report that knows the input does; the outputs are those of the
-- requests if all of them have one. Figures of all models together go before figures by
-- model. What a subscription pays has no cost. Else the cost is computed where one model did all the work and no request can have
-- been long enough for another price, else it is what the log says.
CREATE TABLE whole_usage AS
WITH silent AS (
  SELECT s.source, s.part, s.session_id,
         coalesce(q.any_output, false) AS any_output,
         coalesce(q.all_outputs, false) AS all_outputs,
         coalesce(q.subscribed, false) AS subscribed
  FROM sessions s
  LEFT JOIN (
    SELECT source, part, session_id,
           count(input_tokens) AS inputs,
           count(output_tokens) > 0 AS any_output,
           bool_and(output_tokens IS NOT NULL) FILTER (WHERE status = 'answered' AND counts) AS all_outputs,
           bool_or(subscription) AS subscribed
    FROM requests
    GROUP BY ALL
  ) q USING (source, part, session_id)
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
  SELECT r.* REPLACE (CASE WHEN NOT q.subscribed THEN r.cost_usd END AS cost_usd),
         q.any_output, q.all_outputs,
         CASE WHEN NOT q.subscribed THEN coalesce(r.model, m.model) END AS price_model,
         CASE WHEN r.model IS NULL THEN m.provider END AS price_provider
  FROM reported r
  JOIN silent q USING (source, part, session_id)
  LEFT JOIN model_of m USING (source, part, session_id)
  QUALIFY r.model IS NULL OR NOT bool_or(r.model IS NULL) OVER (PARTITION BY r.source, r.part, r.session_id)
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

-- What counts as usage, row by row: requests, and the sums of sessions that are known
-- as a whole, in the model that all of their requests had, at the session's start.
CREATE VIEW usage_rows AS
SELECT r.source, r.part, r.session_id, r.model, r."time", 1 AS requests,
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
SELECT r.* EXCLUDE (stem) FROM raw_calibration r JOIN selected USING (source, stem, part, session_id);

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

-- Every text of the dataset once, kept ones included. It stays in the files.
CREATE VIEW texts AS
SELECT r.text_hash, any_value(r."text") AS "text"
FROM raw_texts r
SEMI JOIN committed_parts USING (source, stem, part, session_id)
GROUP BY r.text_hash;
