-- Functions of DuckDB that ClickHouse has under another name.
CREATE OR REPLACE FUNCTION bool_or AS (x) -> max(x);
CREATE OR REPLACE FUNCTION bool_and AS (x) -> min(x);
CREATE OR REPLACE FUNCTION epoch_ms AS (t) -> toUnixTimestamp64Milli(t);
CREATE OR REPLACE FUNCTION to_milliseconds AS (n) -> toIntervalMillisecond(n);
CREATE OR REPLACE FUNCTION len AS (list) -> length(list);
CREATE OR REPLACE FUNCTION new_words AS (args, earlier) ->
  arrayFilter(w -> position(earlier, w) = 0,
    arrayDistinct(extractAll(coalesce(replaceRegexpAll(args, '"[A-Za-z_]+"\\s*:', ' '), ''), '[A-Za-z0-9_./-]{6,}')));
CREATE OR REPLACE FUNCTION holds_any AS (text, words) -> arrayExists(w -> position(text, w) > 0, words);
CREATE OR REPLACE FUNCTION in_order AS (pairs) -> arrayMap(p -> p.2, arraySort(pairs));
CREATE OR REPLACE FUNCTION known AS (list) -> arrayFilter(e -> e IS NOT NULL, list);
CREATE OR REPLACE FUNCTION day_in AS (at, zone) -> toDate32(toTimeZone(at, zone));
CREATE OR REPLACE FUNCTION tenth AS (value) -> quantileExactInclusive(0.1)(value);
CREATE OR REPLACE FUNCTION whole AS (number) -> CAST(if(number < 0, -floor(0.5 - number), floor(number + 0.5)), 'Nullable(Int64)');
CREATE OR REPLACE FUNCTION string_split AS (s, separator) -> splitByString(separator, s);

-- As in DuckDB: whether an ID is long and mixed enough that nothing else has the
-- same by chance.
CREATE OR REPLACE FUNCTION never_repeats AS (id) ->
  lengthUTF8(replaceRegexpOne(id, '^[A-Za-z]+[-_]', '')) >= 16
  AND length(arrayDistinct(ngrams(replaceRegexpOne(id, '^[A-Za-z]+[-_]', ''), 1))) >= 8;

-- A whole number as DuckDB's format '{:,}' writes it: 1,234,567.
CREATE OR REPLACE FUNCTION in_thousands AS (n) ->
  if(n < 0, '-', '') || trim(LEADING ',' FROM reverse(replaceRegexpAll(reverse(toString(abs(n))), '([0-9]{3})', '\\1,')));
