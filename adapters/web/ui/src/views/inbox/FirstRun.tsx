/** Walks a person who has seen no ask yet to the first one. */
import { createMemo, createSignal, createUniqueId, Show, useContext } from "solid-js";
import type { Component } from "solid-js";
import { Button } from "../../components/Button";
import { keepFocus } from "../../keyboard/keep-focus";
import { agents } from "../../model/select";
import { visibleLine } from "../../model/text";
import type { AccountId } from "../../model/types";
import { handleProblem } from "../../components/named";
import { createAction } from "../../shell/action";
import { Form } from "../../shell/Form";
import { Copyable } from "../../shell/Copyable";
import { StoreContext } from "../../store/context";
import { firstRunText as text } from "../../strings";
import { askCommand } from "./command";

const STEPS = 3;

const FirstRun: Component = () => {
  const store = useContext(StoreContext);
  const [token, setToken] = createSignal<string | undefined>(undefined);
  const mine = createMemo(() => agents(store.state()).filter((agent) => agent.ownerId === store.state().me));
  return (
    <section class="first-run card" aria-labelledby="first-run">
      <h2 id="first-run">{text.title}</h2>
      <p>{text.intro}</p>
      <ol>
        <AgentStep handle={mine()[0]?.handle} id={mine()[0]?.id} done={token() !== undefined} onToken={(value) => setToken(value)} />
        <li class="first-run-step">
          <p class="dim small">{text.step(2, STEPS)}</p>
          <h3>{text.command}</h3>
          <p class="dim">{text.commandHelp}</p>
          <Show when={token()}>{(value) => <Copyable label={text.copy} text={askCommand(window.location.origin, value(), text.question, [text.yes, text.no])} />}</Show>
        </li>
        <li class="first-run-step">
          <p class="dim small">{text.step(3, STEPS)}</p>
          <h3>{text.answer}</h3>
          <p class="first-run-waiting" role="status">
            {text.waiting}
          </p>
        </li>
      </ol>
    </section>
  );
};
export default FirstRun;

interface AgentStepProps {
  readonly id: AccountId | undefined;
  readonly handle: string | undefined;
  readonly done: boolean;
  readonly onToken: (token: string) => void;
}

const AgentStep: Component<AgentStepProps> = (props) => {
  const store = useContext(StoreContext);
  const [handle, setHandle] = createSignal("");
  const hint = createUniqueId();
  let maker: HTMLElement | undefined;
  const making = createAction();
  const problem = () => (props.id === undefined ? handleProblem(handle()) : undefined);
  const make = () =>
    making.run(async () => {
      const id = props.id ?? (await store.client.createAgent(handle().trim(), "")).id;
      props.onToken(await store.client.issueToken(id));
    });
  return (
    <li class="first-run-step" data-done={props.done ? "true" : "false"} ref={keepFocus({ or: () => maker })}>
      <p class="dim small">{text.step(1, STEPS)}</p>
      <h3>{text.agent}</h3>
      <Form onSubmit={() => make()} error={problem() ?? making.error()}>
        <p class="dim">{text.agentHelp}</p>
        <Show when={props.handle} fallback={<HandleField value={handle()} hint={hint} invalid={problem() !== undefined} onInput={(value) => setHandle(value)} />}>
          {(known) => <p>{text.have(visibleLine(known()))}</p>}
        </Show>
        <div class="actions">
          <Button type="submit" ref={(element) => (maker = element)} class={{ primary: !props.done }} busy={making.busy()} disabled={problem() !== undefined || (props.id === undefined && handle().trim() === "")}>
            {making.busy() ? text.creating : props.id === undefined ? text.create : text.makeToken}
          </Button>
        </div>
      </Form>
    </li>
  );
};

const HandleField: Component<{ readonly value: string; readonly hint: string; readonly invalid: boolean; readonly onInput: (value: string) => void }> = (props) => (
  <label>
    {text.handle}
    <input type="text" autocomplete="off" spellcheck={false} aria-describedby={props.hint} aria-invalid={props.invalid ? "true" : "false"} value={props.value} onInput={(event) => props.onInput(event.currentTarget.value)} />
    <span class="hint" id={props.hint}>
      {text.handleHelp}
    </span>
  </label>
);
