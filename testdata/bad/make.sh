#!/bin/sh
# Makes the bad files of this folder again: sh testdata/bad/make.sh
set -eu
cd "$(dirname "$0")"
mkdir -p no-logs/sub

base='"aggregateID":"bad-input","timestamp":17870400000'
e1='{"type":"model.request","id":"01M0000001","seq":1,'$base'01,"turnId":"turn-0","provider":"minimax","model":"MiniMax-M3","messageCount":2,"toolCount":16,"promptChars":1200,"streamed":true}'
e2='{"type":"model.response","id":"01M0000002","seq":2,'$base'02,"turnId":"turn-0","provider":"minimax","model":"MiniMax-M3","duration_ms":900,"inputTokens":1000,"outputTokens":20,"cacheReadTokens":0,"cacheWriteTokens":0,"toolCalls":["read"],"textChars":0,"thinkingChars":0}'
e3='{"type":"turn.started","id":"01M0000003","seq":3,'$base'03,"turnId":"turn-0"}'
e4='{"type":"function.call","id":"01M0000004","seq":4,'$base'04,"turnId":"turn-0","tool":"read","args":{"filePath":"/p/note.txt"}}'
e5() { printf '%s\n' '{"type":"function.output","id":"01M0000005","seq":5,'"$base"'05,"turnId":"turn-0","tool":"read","output":"'"$1"'","duration_ms":4}'; }
e6='{"type":"model.request","id":"01M0000006","seq":6,'$base'06,"turnId":"turn-1","provider":"minimax","model":"MiniMax-M3","messageCount":3,"toolCount":16,"promptChars":1212,"streamed":true}'
e7='{"type":"model.response","id":"01M0000007","seq":7,'$base'07,"turnId":"turn-1","provider":"minimax","model":"MiniMax-M3","duration_ms":800,"inputTokens":1100,"outputTokens":15,"cacheReadTokens":896,"cacheWriteTokens":0,"toolCalls":[],"textChars":9,"thinkingChars":0}'
e8='{"type":"turn.started","id":"01M0000008","seq":8,'$base'08,"turnId":"turn-1"}'

head() { printf '%s\n' "$e1" "$e2" "$e3" "$e4"; }
tail() { printf '%s\n' "$e6" "$e7" "$e8"; }
whole() { head; e5 'hello there'; tail; }

whole > good.jsonl
: > empty.jsonl
printf '\n  \n\n' > blank.jsonl
printf '\177ELF\002\001\001\000\000\000\377\376\000\020\003\000>\000\001\000\000\000' > binary.jsonl
printf '%s\n' '{"event":"door","payload":{"open":true}}' '{"event":"light"}' > unknown.jsonl
printf 'Dear diary,\nnothing happened today.\n' > prose.jsonl
{ head; e5 'hello there'; printf '%s\n' "$e6"; printf '%s' "$e7" | cut -c1-120 | tr -d '\n'; } > cut-last-line.jsonl
{ head; e5 'hello there' | sed 's/"duration_ms":4/"duration_ms":/'; tail; } > broken-middle-line.jsonl
{ whole; dd if=/dev/zero bs=512 count=1 2>/dev/null; } > nul-tail.jsonl
{ printf '%s\n' "$e1" "$e2"; printf '%s\000\000\000\000\n' "$e3"; printf '%s\n' "$e4"; e5 'hello there'; tail; } > nul-after-record.jsonl
{ printf '\357\273\277'; whole; } > byte-order-mark.jsonl
whole | sed 's/":/" : /g' > blanks-after-colons.jsonl
{ head; e5 'hello \\ud83d there' | sed 's/\\\\u/\\u/'; tail; } > lone-surrogate.jsonl
{ head; e5 "hello $(printf '\341\200\342') there"; tail; } > invalid-utf8.jsonl
{ head; e5 'hello there'; printf '%s\n' "$e6" "$e7" "$e8" | tr -d '\n'; echo; } > several-on-one-line.jsonl
{ whole; for n in 1 2; do printf '%s\n' '{"type":"weather.changed","id":"01M000001'$n'","seq":1'$n','"$base"'1'$n',"sky":"grey"}'; done; printf '%s\n' '{"type":"mood.shifted","id":"01M0000013","seq":13,'"$base"'13}'; } > unknown-events.jsonl
{ head; e5 'hello there'; tail | sed 's/"inputTokens":1100,"outputTokens":15,"cacheReadTokens":896,"cacheWriteTokens":0,//'; } > missing-usage.jsonl
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%064d\nsize 2048\n' 0 > lfs-pointer.jsonl
whole | gzip -n9 > good.jsonl.gz.whole
dd if=good.jsonl.gz.whole of=cut.jsonl.gz bs=1 count=420 2>/dev/null
rm good.jsonl.gz.whole
printf '# Nothing to see\n' > no-logs/readme.md
printf '{"name":"not a log"}\n' > no-logs/sub/settings.json
