-- The requests of the selected sessions. A request counts when it was not copied
-- from another session's log and no other request owns its response; totals are
-- sums over what counts.
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

CREATE TABLE calls AS
SELECT c.* EXCLUDE (stem), NOT c.inherited AND coalesce(q.counts, true) AS counts
FROM raw_calls c
JOIN selected USING (source, stem, part, session_id)
LEFT JOIN requests q USING (source, part, session_id, request_index);
