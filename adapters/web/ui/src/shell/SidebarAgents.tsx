/** Agents of the left column: the pinned ones, then everyone else by who stands below whom. */
import { createMemo, createSignal, For, Show, useContext } from "solid-js";
import type { Component } from "solid-js";
import { keepFocus } from "../keyboard/keep-focus";
import { activityOf, agentTree, besidePins } from "../model/select";
import type { AgentNode } from "../model/select";
import { visibleLine } from "../model/text";
import type { AccountId } from "../model/types";
import { refreshPins } from "../prefs/pins";
import type { AgentPin } from "../prefs/pins";
import { agentPath, settingsPath } from "../router/paths";
import { StoreContext } from "../store/context";
import { shellText } from "../strings";
import { AppContext } from "./app";
import { Presence } from "./Presence";
import { Section } from "./Section";

export const SidebarAgents: Component = () => {
  const store = useContext(StoreContext);
  const { pins } = useContext(AppContext);
  const accounts = createMemo(() => store.state().accounts);
  const tree = createMemo(() => agentTree({ accounts: accounts() }));
  const pinned = createMemo(() => refreshPins(pins.list(), (id) => accounts().get(id)?.handle));
  const others = createMemo(() => besidePins(tree(), new Set(pins.list().map((pin) => pin.id))));
  return (
    <Section name="agents" title={shellText.agents} link={{ path: settingsPath("agents"), label: shellText.newAgent }}>
      <Show when={pinned().length > 0}>
        <ul class="rail-list pins" aria-label={shellText.pinnedAgents} ref={keepFocus({ among: ".rail-pin" })}>
          <For each={pinned()} keyed={(pin) => pin.id}>
            {(pin) => <PinnedRow pin={pin()} />}
          </For>
        </ul>
      </Show>
      {/* Before the first snapshot an empty list means nothing. */}
      <Show when={store.state().ready && tree().length === 0}>
        <p class="rail-note">{shellText.noAgents}</p>
      </Show>
      <AgentNodes nodes={others()} depth={0} />
    </Section>
  );
};

const PinnedRow: Component<{ readonly pin: AgentPin }> = (props) => {
  const store = useContext(StoreContext);
  const gone = () => store.state().ready && store.state().accounts.get(props.pin.id)?.kind !== "agent";
  return (
    <li class="rail-agent">
      <Show
        when={!gone()}
        fallback={
          <span class="rail-row gone">
            <bdi class="rail-name">{visibleLine(props.pin.handle)}</bdi> <span class="rail-shared">{shellText.gone}</span>
          </span>
        }
      >
        <AgentLink id={props.pin.id} handle={props.pin.handle} />
      </Show>
      <PinButton pin={props.pin} />
    </li>
  );
};

const AgentNodes: Component<{ readonly nodes: readonly AgentNode[]; readonly depth: number }> = (props) => (
  <ul class="rail-list">
    <For each={props.nodes} keyed={(node) => node.agent.id}>
      {(node) => <AgentRow node={node()} depth={props.depth} />}
    </For>
  </ul>
);

/** Deeper levels are not indented any further: the column is narrow. */
const DEEPEST = 6;

const AgentRow: Component<{ readonly node: AgentNode; readonly depth: number }> = (props) => {
  const [open, setOpen] = createSignal(true);
  const agent = () => props.node.agent;
  return (
    <li>
      <div class={["rail-agent", `depth-${Math.min(props.depth, DEEPEST)}`]}>
        <Show when={props.node.descendants > 0} fallback={<span class="rail-indent" />}>
          <button
            type="button"
            class="fold"
            aria-expanded={open() ? "true" : "false"}
            aria-label={open() ? shellText.fold(visibleLine(agent().handle)) : shellText.unfold(visibleLine(agent().handle))}
            title={shellText.below(props.node.descendants)}
            data-stop
            tabindex="-1"
            onClick={() => setOpen((before) => !before)}
          >
            <span class={["caret", { open: open() }]} aria-hidden="true" />
          </button>
        </Show>
        <AgentLink id={agent().id} handle={agent().handle} hidden={open() ? 0 : props.node.descendants} />
        <PinButton pin={{ id: agent().id, handle: agent().handle }} />
      </div>
      <Show when={open() && props.node.children.length > 0}>
        <AgentNodes nodes={props.node.children} depth={props.depth + 1} />
      </Show>
    </li>
  );
};

const AgentLink: Component<{ readonly id: AccountId; readonly handle: string; readonly hidden?: number }> = (props) => {
  const store = useContext(StoreContext);
  const { router } = useContext(AppContext);
  const activity = createMemo(() => visibleLine(activityOf(store.state(), props.id)));
  const current = () => {
    const route = router.route();
    return route.kind === "agent" && route.agentId === props.id ? "page" : undefined;
  };
  return (
    <a class="rail-row agent" href={agentPath(props.id)} aria-current={current()} title={activity() === "" ? undefined : activity()} data-stop tabindex="-1">
      <Presence id={props.id} word={false} />
      <bdi class="rail-name">{visibleLine(props.handle)}</bdi>
      <Show when={(props.hidden ?? 0) > 0}>
        <span class="rail-count" title={shellText.below(props.hidden ?? 0)}>
          +{props.hidden}
        </span>
      </Show>
      <Show when={activity() !== ""}>
        <bdi class="rail-activity">{activity()}</bdi>
      </Show>
    </a>
  );
};

const PinButton: Component<{ readonly pin: AgentPin }> = (props) => {
  const { pins } = useContext(AppContext);
  const pressed = () => pins.list().some((pin) => pin.id === props.pin.id);
  const label = () => (pressed() ? shellText.unpinAgent(visibleLine(props.pin.handle)) : shellText.pinAgent(visibleLine(props.pin.handle)));
  return (
    <button
      type="button"
      class="rail-pin"
      aria-pressed={pressed() ? "true" : "false"}
      aria-label={label()}
      title={label()}
      data-stop
      data-pin={props.pin.id}
      tabindex="-1"
      ref={keepFocus({ or: samePin })}
      onClick={() => pins.toggle(props.pin)}
    >
      <span aria-hidden="true">{pressed() ? "★" : "☆"}</span>
    </button>
  );
};

/** Pinning puts an agent elsewhere in the column. */
const samePin = (gone: HTMLElement): Element | undefined => [...document.querySelectorAll<HTMLElement>("[data-pin]")].find((each) => each.dataset["pin"] === gone.dataset["pin"]);
