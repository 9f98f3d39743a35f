#!/bin/sh
# Writes base/ and candidate/ anew. All of it is made up.
set -eu
cd "$(dirname "$0")"
rm -rf base candidate

# event TYPE REST: one event, 100 ms after the one before.
event() {
	seq=$((seq + 1))
	printf '{"type":"%s","id":"01KAB%s%013d","seq":%d,"aggregateID":"%s","timestamp":%d,%s}\n' \
		"$1" "$mark" "$seq" "$seq" "$id" $((start + seq * 100)) "$2" >>"$log"
}

# turn INPUT READ OUTPUT TOOL ARGS RESULT: one model call, and the tool call it makes, if any.
turn() {
	by='"provider":"minimax","model":"MiniMax-M3"'
	event turn.started "\"turnId\":\"turn-$n\""
	event model.request "\"turnId\":\"turn-$n\",$by,\"messageCount\":$((2 + n)),\"toolCount\":16,\"promptChars\":$(($1 * 4)),\"streamed\":true"
	calls= words=5
	[ -z "$4" ] || calls="\"$4\"" words=0
	event model.response "\"turnId\":\"turn-$n\",$by,\"duration_ms\":90,\"ttft_ms\":30,\"inputTokens\":$1,\"outputTokens\":$3,\"cacheReadTokens\":$2,\"cacheWriteTokens\":0,\"toolCalls\":[$calls],\"textChars\":$words,\"thinkingChars\":0"
	if [ -n "$4" ]; then
		event function.call "\"turnId\":\"turn-$n\",\"tool\":\"$4\",\"args\":$5,\"callId\":\"c$n\""
		event function.output "\"turnId\":\"turn-$n\",\"tool\":\"$4\",\"output\":\"$6\",\"duration_ms\":5,\"failed\":false,\"callId\":\"c$n\""
	fi
	part='{"type":"text","content":"Done."}'
	[ -z "$4" ] || part="{\"type\":\"tool\",\"tool\":{\"name\":\"$4\",\"args\":$5},\"result\":\"$6\"}"
	printf '{"id":"a%d","role":"assistant","parts":[%s],"timestamp":%d,"usage":{"inputTokens":%d,"outputTokens":%d,"cacheReadInputTokens":%d,"cacheWriteInputTokens":0}}\n' \
		$n "$part" $((start + seq * 100)) "$1" "$3" "$2" >>"$messages"
	n=$((n + 1))
}

# open ARM TASK: starts a session and stores its prompt, laid out differently in each arm.
open() {
	id=$1-$2 seq=0 n=0 mark=$3
	start=$((1790000000000 + $2 * 1000000))
	log=$1/rollout/sessions/$id/events.jsonl
	store=$1/sessions/home__ann__shop/$id
	messages=$store/messages.jsonl
	mkdir -p "$(dirname "$log")" "$store"
	printf '{"id":"u1","role":"user","parts":[{"type":"text","content":"%s"}],"timestamp":%d}\n' "$4" "$start" >"$messages"
}

run='{"command":"npm test"}'
for task in 1 2 3 4 5 6 7 8 9 10 11 12 13; do
	look="{\"filePath\":\"/home/ann/shop/part$task.ts\"}"
	open base $task A "Fix failing test $task."
	turn 4700 0 100 bash "$run" "1 failed"
	if [ $task -le 3 ]; then
		turn 4900 4608 100 bash "$run" "1 failed"
	else
		turn 4900 4608 100 read "$look" "let a = 1"
	fi
	turn 5100 4864 100 "" "" ""

	open candidate $task B "Fix  failing\\ntest $task."
	turn 4700 0 100 bash "$run" "1 failed"
	if [ $task -le 4 ]; then
		turn 4950 4608 107 read "$look" "let a = 1"
		turn 5450 4864 107 bash "$run" "1 failed"
		turn 5700 5376 114 "" "" ""
	else
		turn 4850 4608 100 read "$look" "let a = 1"
		turn 4950 4736 100 "" "" ""
	fi
done
