/** An agent's session: watched by those who may, started and stopped by its owner and administrators. No input: agents are talked to in channels. */
import { createEffect, createMemo, createSignal, Show, untrack, useContext } from "solid-js";
import type { Component } from "solid-js";
import { Button } from "../../components/Button";
import { Sure } from "../../components/Sure";
import { createAsked } from "../../components/asked";
import { keepFocus } from "../../keyboard/keep-focus";
import { presenceOf } from "../../model/select";
import type { Agent, AgentSession } from "../../model/types";
import { visible } from "../../model/text";
import { createAction, createReading } from "../../shell/action";
import { StoreContext } from "../../store/context";
import { agentText } from "../../strings";
import { isAdmin } from "../settings/Profile";
import { isRunning, newestSession } from "./session";
import { SessionLog } from "./SessionLog";

export const SessionPanel: Component<{ readonly agent: Agent }> = (props) => {
  const store = useContext(StoreContext);
  const [session, setSession] = createSignal<AgentSession | undefined>(undefined);
  const agentId = untrack(() => props.agent.id);
  const reading = createReading(() => store.client.sessions(), (sessions) => setSession(newestSession(sessions, agentId)));
  const starting = createAction();
  const presence = createMemo(() => presenceOf(store.state(), agentId));
  const mayRun = createMemo(() => {
    const { me, accounts } = store.state();
    return props.agent.ownerId === me || isAdmin(accounts.get(me));
  });
  // A session that comes or goes shows in the presence.
  createEffect(presence, () => void reading.refresh());
  // Why a start was refused holds for what was then.
  const standing = createMemo(() => `${presence()} ${session()?.sessionId ?? ""} ${session()?.state ?? ""}`);
  createEffect(standing, () => starting.fail(undefined));
  const start = () =>
    starting.run(async () => {
      await store.startAgent(agentId);
      await reading.refresh();
    });
  const stop = async (running: AgentSession) => {
    setSure(false);
    await store.stopSession(running.sessionId);
    await reading.refresh();
  };
  const running = createMemo(() => {
    const at = session();
    return at && isRunning(at) ? at : undefined;
  });
  const [sure, setSure] = createAsked(() => running()?.sessionId);
  const refusal = () => {
    const at = session();
    return at && store.refusals().get(at.sessionId);
  };
  let heading: HTMLElement | undefined;
  return (
    <section aria-labelledby="agent-session" ref={keepFocus({ or: () => heading })}>
      <h2 id="agent-session" ref={(element) => (heading = element)} tabindex="-1">
        {agentText.sessions}
      </h2>
      <div class="actions agent-session">
        <span>{session() ? agentText.state[session()?.state ?? "unspecified"] : agentText.noSession}</span>
        <Show when={mayRun()} fallback={<span class="dim small">{agentText.notYours}</span>}>
          <Button type="button" busy={starting.busy()} disabled={running() !== undefined} onClick={() => void start()}>
            {starting.busy() ? agentText.starting : agentText.start}
          </Button>
          <Button type="button" class="danger" disabled={running() === undefined} onClick={() => setSure(true)}>
            {agentText.stop}
          </Button>
        </Show>
      </div>
      <Show when={sure() && running()}>{(at) => <Sure question={agentText.stopSure} yes={agentText.stop} onYes={() => void stop(at())} onNo={() => setSure(false)} />}</Show>
      <div role="alert" class="error">
        <Show when={refusal()}>{(reason) => <p>{agentText.refused(visible(reason()))}</p>}</Show>
        <Show when={starting.error()}>{(reason) => <p>{agentText.refused(reason())}</p>}</Show>
        <Show when={reading.error()}>{(reason) => <p>{reason()}</p>}</Show>
      </div>
      <Show when={running()?.sessionId} keyed>
        {(sessionId) => <SessionLog sessionId={sessionId} />}
      </Show>
    </section>
  );
};
