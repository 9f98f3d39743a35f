-- What costs rest on
--
-- Why requests have a cost or have none, by provider and model: which price list was used, or what is missing.
-- Failed attempts without usage are left out. A request without usage in a session that the log reports the usage of as
-- a whole shares that cost.
--
-- Columns:
--   provider      provider as logged
--   model         model as logged
--   basis         priced; logged: what the log itself says, for want of a price or of usage; or why the cost is unknown: subscription, no-usage, no-price
--   requests      how many
--   price_date    day the price is known to be right, YYYY-MM-DD; NULL unknown or not priced
--   price_file    the user's file that the price is from; NULL the built-in list, or not priced
SELECT r.provider, r.model,
       CASE WHEN r.cost_basis = 'computed' THEN 'priced'
            WHEN r.cost_basis = 'logged' THEN 'logged'
            WHEN r.subscription THEN 'subscription'
            WHEN w.cost_usd IS NOT NULL AND NOT w.cost_partial THEN CASE WHEN w.logged_cost_usd IS NULL THEN 'priced' ELSE 'logged' END
            WHEN w.input_tokens IS NOT NULL AND w.output_tokens IS NOT NULL THEN 'no-price'
            WHEN r.input_tokens IS NULL OR r.output_tokens IS NULL THEN 'no-usage'
            ELSE 'no-price'
       END AS basis,
       count(*) AS requests,
       CASE WHEN basis = 'priced' THEN any_value(p.date) END AS price_date,
       CASE WHEN basis = 'priced' THEN any_value(p.file) END AS price_file
FROM requests r
LEFT JOIN price_of p ON p.used_model = r.model AND p.used_provider IS NOT DISTINCT FROM r.provider
LEFT JOIN whole_usage w ON w.part = r.part AND w.session_id = r.session_id
WHERE r.counts AND (r.status = 'answered' OR r.cost_usd IS NOT NULL)
GROUP BY r.provider, r.model, basis
ORDER BY 4 DESC, r.provider, r.model, basis
