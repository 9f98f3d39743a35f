// Package detour estimates the extra requests that a lossy edit may cause: what
// the agent would do to get back what was cut.
//
// There are two kinds of evidence, and neither is a measurement of the variant.
//
// Base rate: outputs that really were truncated in the logs given (cases), and how
// many of them the agent went back to within three requests (recoveries), beside
// the null: how often the same pattern follows outputs of the same agent, kind and
// size that were whole. Only the difference of the two counts.
//
// Later use: a stretch of text, a number or a path that stood in the cut text and
// nowhere else the model could see, and that the model wrote later. Its null is
// the same match against text the model wrote elsewhere.
//
// Whether a call goes back to an earlier output is told by rules over what the
// two calls look at (see look and classify). They were compared with a reading by
// hand of the cases that testdata/cases.tsv lists.
package detour
