/** Makes an account: a handle and a name. */
import { createSignal, createUniqueId, Show } from "solid-js";
import type { Component } from "solid-js";
import { Button } from "../../components/Button";
import { handleProblem, nameProblem } from "../../components/named";
import { createAction } from "../../shell/action";
import { Form } from "../../shell/Form";
import { namedText, settingsText } from "../../strings";

interface Props {
  readonly title: string;
  readonly help?: string;
  readonly onCreate: (handle: string, displayName: string) => Promise<unknown>;
}

export const NewAccount: Component<Props> = (props) => {
  const [handle, setHandle] = createSignal("");
  const [name, setName] = createSignal("");
  const hint = createUniqueId();
  const making = createAction();
  const badHandle = () => handleProblem(handle());
  const badName = () => nameProblem(namedText.theName, name());
  const problem = () => badHandle() ?? badName();
  const make = async () => {
    if (!(await making.run(() => props.onCreate(handle().trim(), name().trim())))) return;
    setHandle("");
    setName("");
  };
  return (
    <Form onSubmit={() => make()} error={problem() ?? making.error()}>
      <h3>{props.title}</h3>
      <Show when={props.help}>{(help) => <p class="hint">{help()}</p>}</Show>
      <label>
        {settingsText.handle}
        <input type="text" autocomplete="off" spellcheck={false} aria-describedby={hint} aria-invalid={badHandle() === undefined ? "false" : "true"} value={handle()} onInput={(event) => setHandle(event.currentTarget.value)} />
        <span class="hint" id={hint}>
          {settingsText.handleHelp}
        </span>
      </label>
      <label>
        {settingsText.displayName}
        <input type="text" dir="auto" autocomplete="off" aria-invalid={badName() === undefined ? "false" : "true"} value={name()} onInput={(event) => setName(event.currentTarget.value)} />
      </label>
      <div class="actions">
        <Button type="submit" busy={making.busy()} disabled={problem() !== undefined || handle().trim() === ""}>
          {making.busy() ? settingsText.creating : settingsText.create}
        </Button>
      </div>
    </Form>
  );
};
