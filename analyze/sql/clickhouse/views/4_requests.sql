CREATE TABLE chosen_requests AS
SELECT r.* EXCEPT (stem) FROM raw_requests r WHERE (source, stem, part, session_id) IN (SELECT source, stem, part, session_id FROM selected);

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

CREATE TABLE calls AS
WITH made AS (
  SELECT source AS made_source, part AS made_part, session_id AS made_session, request_index AS made_index, counts AS made_counts FROM requests
)
SELECT c.* EXCEPT (stem), NOT c.inherited AND coalesce(q.made_counts, true) AS counts
FROM raw_calls c
LEFT JOIN made q ON q.made_source = c.source AND q.made_part = c.part AND q.made_session = c.session_id AND q.made_index = c.request_index
WHERE (c.source, c.stem, c.part, c.session_id) IN (SELECT source, stem, part, session_id FROM selected);
