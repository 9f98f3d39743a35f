-- What became of predictions, the oldest first.
SELECT outcome, variant, baseline, candidate, epoch_ms(measured_from), epoch_ms(measured_until), tasks, trials, verdict, predicted_verdict,
       predicted_sessions, predicted_base_requests, predicted_lossy_items, predicted_static_share, predicted_static_share_low, predicted_static_share_high,
       predicted_ln_requests, predicted_ln_tokens_per_request, predicted_ln_tokens, predicted_detours, predicted_detours_low, predicted_detours_high,
       measured_ln_requests, measured_ln_requests_low, measured_ln_requests_high,
       measured_ln_tokens_per_request, measured_ln_tokens_per_request_low, measured_ln_tokens_per_request_high,
       measured_ln_tokens, measured_ln_tokens_low, measured_ln_tokens_high, detours_found, detours_found_low, detours_found_high
FROM outcomes
ORDER BY measured_from NULLS LAST, outcome
