/** What a session does, as it happens. */
import { createEffect, createSignal, For, Match, Show, Switch } from "solid-js";
import { useContext } from "solid-js";
import type { Component } from "solid-js";
import { Time } from "../../components/Time";
import { visible, visibleLine } from "../../model/text";
import type { SessionId } from "../../model/types";
import { failureText } from "../../shell/failure";
import { StoreContext } from "../../store/context";
import { agentText } from "../../strings";
import { emptyLog, LIMIT, logged } from "./log";
import type { Entry, Log } from "./log";

type End = { readonly kind: "live" } | { readonly kind: "ended" } | { readonly kind: "failed"; readonly text: string };

export const SessionLog: Component<{ readonly sessionId: SessionId }> = (props) => {
  const store = useContext(StoreContext);
  const [log, setLog] = createSignal<Log>(emptyLog);
  const [end, setEnd] = createSignal<End>({ kind: "live" });
  const [tries, setTries] = createSignal(0);
  createEffect(
    () => [props.sessionId, tries()] as const,
    ([sessionId]) => {
      const over = new AbortController();
      setEnd({ kind: "live" });
      const watch = async () => {
        try {
          for await (const frame of store.client.watchSession(sessionId, over.signal)) {
            const { event } = frame;
            if (event && !over.signal.aborted) setLog((before) => logged(before, event));
          }
          if (!over.signal.aborted) setEnd({ kind: "ended" });
        } catch (error) {
          if (!over.signal.aborted) setEnd({ kind: "failed", text: failureText(error) });
        }
      };
      void watch();
      return () => over.abort();
    },
  );
  const failed = () => {
    const at = end();
    return at.kind === "failed" ? at : undefined;
  };
  return (
    <div class="session-log">
      <h3>{agentText.log}</h3>
      <p class="dim small">{log().clipped ? agentText.logFull(LIMIT) : agentText.logHelp}</p>
      <ol tabindex="0" aria-label={agentText.log}>
        <For each={log().entries} keyed={(entry) => entry.id} fallback={<li class="dim">{agentText.logEmpty}</li>}>
          {(entry) => <EntryRow entry={entry()} />}
        </For>
      </ol>
      <div role="status">
        <Show when={end().kind === "ended"}>
          <p class="dim">{agentText.logEnded}</p>
        </Show>
        <Show when={failed()}>
          {(at) => (
            <p>
              {agentText.logFailed(at().text)}{" "}
              <button type="button" class="button" onClick={() => setTries((count) => count + 1)}>
                {agentText.watchAgain}
              </button>
            </p>
          )}
        </Show>
      </div>
    </div>
  );
};

const EntryRow: Component<{ readonly entry: Entry }> = (props) => {
  const of = <K extends Entry["kind"]>(kind: K) => narrowed(props.entry, kind);
  return (
    <li class={["session-entry", props.entry.kind]}>
      <span class="session-entry-head">
        {label(props.entry)} <Time at={props.entry.at} />
      </span>
      <Switch>
        <Match when={words(props.entry)}>
          {(text) => (
            <p class="session-text" dir="auto">
              {visible(text())}
            </p>
          )}
        </Match>
        <Match when={of("tool")}>
          {(entry) => (
            <>
              <p class="session-text" dir="auto">
                {visibleLine(entry().title)} <span class="dim">{agentText.status[entry().status]}</span>
                <Show when={entry().changed > 0}> · {agentText.changed(entry().changed)}</Show>
              </p>
              <Show when={entry().output !== ""}>
                <pre class="session-output" dir="auto">
                  {visible(entry().output)}
                </pre>
              </Show>
            </>
          )}
        </Match>
        <Match when={of("plan")}>
          {(entry) => (
            <ol class="session-plan">
              <For each={entry().entries} keyed={false}>
                {(step) => (
                  <li dir="auto">
                    {visibleLine(step().content)} <span class="dim">{agentText.status[step().status]}</span>
                  </li>
                )}
              </For>
            </ol>
          )}
        </Match>
      </Switch>
    </li>
  );
};

const words = (entry: Entry): string | undefined => ("text" in entry ? entry.text : undefined);
const narrowed = <K extends Entry["kind"]>(entry: Entry, kind: K): Extract<Entry, { readonly kind: K }> | undefined => (isEntry(entry, kind) ? entry : undefined);
const isEntry = <K extends Entry["kind"]>(entry: Entry, kind: K): entry is Extract<Entry, { readonly kind: K }> => entry.kind === kind;

const label = (entry: Entry): string => {
  switch (entry.kind) {
    case "text":
      return agentText.says;
    case "thinking":
      return agentText.thinking;
    case "tool":
      return agentText.tool;
    case "plan":
      return agentText.plan;
    case "notice":
      return agentText.notice;
  }
};
