// Package pricing is the price book: what a model's tokens cost in USD.
//
// The built-in list is prices.json; every entry names its source page and the
// newest day it is known to be true. Files named by the user override it: FreeCode's
// pricing.json, LiteLLM's model_prices_and_context_window.json, models.dev's
// api.json, or a file like prices.json; each is recognised by its shape.
//
// The cost of a request is
//
//	(input - cache read - cache write) × Input + cache read × CacheRead
//	+ 5 minute writes × CacheWrite5m + 1 hour writes × CacheWrite1h + output × Output
//
// over a million, by the LongContext prices for the whole request when its
// input exceeds the threshold. A cache price that is nil falls back: 1 hour
// writes to CacheWrite5m, all of them to Input, as providers that do not price
// them apart bill them. Writes of unknown lifetime count as 5 minute writes.
//
// Models are found by provider and exact ID, then by ID alone, never by prefix:
// gpt-4o and gpt-4o-mini differ by a factor of 16. A model that is not found has
// no price, which is not the same as costing nothing.
package pricing
