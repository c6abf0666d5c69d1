#!/usr/bin/env bash
# Runs the official clients against a server of its own; everything is gone afterwards.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
compass=${COMPASS_BIN:-compass}
inspector=${INSPECTOR:-mcp-inspector}
python=${PYTHON:-python3}
work=$(mktemp -d)
export HOME=$work
server=

finish() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    [ -z "$server" ] || wait "$server" 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT

"$compass" serve --listen 127.0.0.1:0 --data-dir "$work/server" >"$work/out" 2>"$work/log" &
server=$!
for _ in $(seq 100); do
    grep -q listens "$work/out" && break
    sleep 0.1
done
COMPASS_URL=$(sed -n 's/^Compass listens on //p' "$work/out")
export COMPASS_URL
"$compass" login --sign-in-file "$work/server/sign-in" >/dev/null
"$compass" agent create bot >/dev/null
"$compass" agent create peer >/dev/null
token=$(sed -n 's/^bot = "\(.*\)"$/\1/p' "$work"/.config/compass/login.toml)

# The inspector's command line: tools/list, then every tool once.
inspect() {
    "$inspector" --cli "$@"
}
every_tool() {
    local ask
    call() {
        local tool=$1
        shift
        local arguments=()
        for argument in "$@"; do arguments+=(--tool-arg "$argument"); done
        printf '%s\n' "--- $tool"
        inspect "${via[@]}" --method tools/call --tool-name "$tool" "${arguments[@]}"
    }
    printf '%s\n' "--- tools/list"
    inspect "${via[@]}" --method tools/list | grep '"name"'
    call comms_post_message topic=Plans create_topic=true "text=Hello"
    call comms_post_ask topic=Plans 'questions=[{"id":"go","question":"Deploy?","options":[{"label":"Yes"},{"label":"No"}]}]' |
        tee "$work/ask"
    ask=$(grep -o 'ask [0-9a-f]\{32\}' "$work/ask" | head -1 | cut -d' ' -f2)
    call comms_cancel_ask "ask_id=$ask"
    call comms_list_messages limit=2
    call comms_list_topics
    call compass_roster
    call compass_tree
    call compass_set_status "activity=trying the tools"
    call comms_open_dm peer_handle=peer
    call comms_dm peer_handle=peer topic=Plans create_topic=true text=Hi
    call comms_create_channel "name=$1"
    call comms_update_members "channel=$1" 'add=["peer"]'
    call comms_create_channel_group "name=$1-group"
}

echo "=== inspector, standard streams"
via=("$compass" agent mcp --agent bot)
every_tool over-stdio
echo "=== inspector, HTTP"
via=("$COMPASS_URL/mcp" --transport http --header "Authorization: Bearer $token")
every_tool over-http
echo "=== Python SDK, standard streams"
"$python" "$here/client.py" stdio "$compass"
echo "=== Python SDK, HTTP"
"$python" "$here/client.py" http "$compass" "$COMPASS_URL/mcp" "$token"
