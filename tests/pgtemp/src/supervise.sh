# Owns one server for as long as standard input stays open. The system closes it when the starter ends in any
# way, SIGKILL included, so neither the server nor its files outlive the starter.
# Arguments: directory of the binaries, private directory, options of the server.
bin=$1 dir=$2
shift 2
trap '' HUP INT TERM PIPE
pid=
# Waits until the command given succeeds, the server has ended or 60 seconds have passed. The pause is a child
# of its own, so the shell notices the server's end while it waits for it.
await() {
    left=1200
    until "$@" || ! kill -0 "$pid" 2>/dev/null || [ "$left" -eq 0 ]; do
        left=$((left - 1))
        sleep 0.05
    done
}
if "$bin/initdb" -D "$dir/data" -U compass --auth=trust --encoding=UTF8 --locale=C --no-sync \
    --no-instructions >"$dir/log" 2>&1
then
    "$bin/postgres" -D "$dir/data" "$@" </dev/null >>"$dir/log" 2>&1 &
    pid=$!
    await grep -qs '^ready' "$dir/data/postmaster.pid"
fi
if grep -qs '^ready' "$dir/data/postmaster.pid"; then
    echo ready
    read -r _
else
    cat "$dir/log"
fi
if [ -n "$pid" ]; then
    # Fast shutdown, then immediate shutdown for a server that does not take the first.
    kill -INT "$pid" 2>/dev/null
    await false
    kill -QUIT "$pid" 2>/dev/null
    wait "$pid"
    # Only a server that crashed leaves this file; its seventh line names a shared memory segment that outlives it.
    segment=$(sed -n '7s/.* //p' "$dir/data/postmaster.pid" 2>/dev/null)
    [ -z "$segment" ] || ipcrm -m "$segment" 2>/dev/null
fi
cd / && rm -rf "$dir"
