-- What every engine writes in its own way; the rest of the shared SQL is the same.
-- The words of a call's arguments, names of fields left out, that do not stand in
-- earlier arguments.
CREATE MACRO new_words(args, earlier) AS
  list_filter(
    list_distinct(regexp_extract_all(regexp_replace(args, '"[A-Za-z_]+"\s*:', ' ', 'g'), '[A-Za-z0-9_./-]{6,}')),
    lambda w: NOT contains(earlier, w));

-- Whether any of the words stands in a text.
CREATE MACRO holds_any("text", words) AS len(list_filter(words, lambda w: contains("text", w))) > 0;

-- The second members of pairs, in the order of the first.
CREATE MACRO in_order(pairs) AS list_transform(list_sort(pairs), lambda p: struct_extract(p, 2));

CREATE MACRO known(list) AS list_filter(list, lambda e: e IS NOT NULL);

-- The calendar day of a time in a time zone.
CREATE MACRO day_in(moment, zone) AS CAST(timezone(zone, to_timestamp(epoch_ms(moment) / 1000)) AS DATE);

-- The tenth part of the values lies at or below it.
CREATE MACRO tenth(value) AS quantile_cont(value, 0.1);

-- A number rounded to a whole one, halves away from 0.
CREATE MACRO whole(number) AS round(number)::BIGINT;
