// Package measure puts sizes on a session: tokens of every item and span, what
// each request carried, how raw counts become the provider's tokens, and which
// calls repeat an earlier one.
//
// # Raw counts
//
// The tokens of an item or span are the size the log gives (image price, reasoning
// from usage) or the count of its text. Reasoning without words that the log does
// not size gets what the usage of its response leaves: the reported reasoning less
// what is readable of it, else a final output less everything visible; split evenly
// over the response's such items and divided by the factor, so that it is a raw
// count like all others. For every session
//
//	Σ over spans of tokens × requests = Σ over requests, inherited ones apart, of counted
//
// # Growth pairs
//
// A pair (a, b) is two answered requests with known input that follow each other on
// a chain (attempts without an answer between them do not count), both of this
// session, of one run, kind and model, neither on a base. Its growth is
// input(b) - input(a). Spans began in it when a.number < first <= b.number, and ended
// in it when a.number <= last < b.number. A pair is left out, with the first reason
// that fits:
//
//	content removed   the raw tokens of the spans that ended exceed 1,000, or a summary began
//	silent clearing   growth < -1,000
//	non-final output  the output of a is unknown or a snapshot
//
// # Prediction
//
//	predicted = output + Σ factor(kind) × raw + framing × messages
//
// There are two ways to take a response; the method of a calibration says which one
// explains the session better:
//
//   - as reported: output is the reported output of a, less its reported reasoning
//     where no span of the session carries a reasoning item of a, and 0 where none
//     carries any item of a. raw leaves out the spans that began in the pair and whose
//     item a produced. messages counts only items that no response produced.
//   - by its text (method ends in "+text"; agents that do not send reasoning again):
//     output is 0, raw leaves nothing out, messages counts all items.
//
// raw is the tokens of the spans that began less those of the spans that ended, by
// kind of their item; factor(kind) is the calibration row of that kind, else the one
// without a kind. messages is messages(b) - messages(a) where the log counts
// messages, else the spans that began less those that ended. So a call and its result
// count as one message: what a provider adds to a call is inside the output that it
// reports.
//
// # Calibration
//
// Models with a public encoding have factor 1, and the framing is fitted. For others
// factor and framing minimise the sum of absolute residuals, which is also what the
// score punishes. Eight pairs fit both, four the factor alone; with fewer the default
// holds. Image prices are the provider's already: they have a row with factor 1, or
// for a provider without a published price the factor that growth shows. Kinds of
// injected text get a factor of their own where at least 20 pairs hold some and a
// tenth of what was unexplained goes away.
//
// The spread of a factor is the lower and the upper quartile of
//
//	(growth - output - framing × messages) / raw
//
// over the pairs, each weighted by |raw|. The factor is the median of the same list,
// as that is what minimises the sum of absolute residuals, so it lies in its spread.
//
// The fit "all" rests on every usable pair, "even" on those whose b has an even
// number.
//
// # Explained
//
//	explained = 1 - Σ |growth - predicted| / Σ |growth|
//
// with the even fit, over usable pairs whose b has an odd number, by session and
// model. Explained is the reference implementation; the shipped question must give
// the same from the tables:
//
//   - requests: chain, request, request_index, run, kind, model, inherited,
//     base_request_index, status, input_tokens, output_tokens, output_final,
//     reasoning_tokens, messages;
//   - spans: item, chain, first_request, last_request, tokens (NULL counts as 0);
//   - items: item, kind, request_index (NULL: no response produced it);
//   - calibration with fit = 'even': model, kind, factor, framing_per_message, method.
//
// # One request
//
//	calibrated = Σ factor(kind) × raw of the spans it and its base carry,
//	             plus, for responses taken as reported, what their size exceeds that by
//	framing    = framing × messages
//	unlogged   = input - calibrated - framing
//
// with the fit "all"; the first two are rounded to whole tokens, so that the three
// add up to the input exactly. All are NULL where the log holds no input.
//
// # What of it is constant
//
// System prompt and tool definitions go out with every request; most logs hold
// neither. What of unlogged that is, is estimated for the turns of each chain and
// model, with an interval:
//
//	first-request  unlogged(1) ± error(1)
//	calibration    the least unlogged(k) + error(k), where that is below unlogged(1)
//	cache-reads    a cached prefix p that conversations of at least two sizes were served
//	               alike, and that ends before what is logged of them: p to p + block - 1;
//	               used where it lies in the interval of the others and is narrower
//	totals         (reported input - calibrated - framing) ÷ requests, of sessions whose
//	               usage is reported as a whole
//	log            0: the log holds system prompt and tool definitions
//
//	error(k) = calibrated(k) × spread of the factor + framing(k) × 1/4 + 4
//
// The lower bound is no higher than what the least request of these leaves over less
// its error, and than the 10 % quantile of unlogged less 4.
//
// The spread is the larger distance of factor_low and factor_high as a share of the
// factor; 0 for a public encoding; 1/4 where too few pairs were there to fit. Block is
// the largest power of two up to 1,024 that divides all cache reads of the chain. The
// rest, unlogged - constant, changes along the way: reminders that are not logged,
// and the error of the calibration. Requests without usage have a constant part too,
// and an unknown rest.
package measure
