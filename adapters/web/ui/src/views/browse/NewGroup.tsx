/** Makes a group that channels can be put in. */
import { createSignal, createUniqueId, Show, useContext } from "solid-js";
import type { Component } from "solid-js";
import { Button } from "../../components/Button";
import { nameProblem } from "../../components/named";
import { visibleLine } from "../../model/text";
import { createAction } from "../../shell/action";
import { Form } from "../../shell/Form";
import { StoreContext } from "../../store/context";
import { browseText, namedText } from "../../strings";

export const NewGroup: Component = () => {
  const store = useContext(StoreContext);
  const [name, setName] = createSignal("");
  const [shared, setShared] = createSignal(true);
  const [made, setMade] = createSignal<string | undefined>(undefined);
  const radio = createUniqueId();
  const making = createAction();
  const problem = () => nameProblem(namedText.theName, name());
  const make = () =>
    making.run(async () => {
      setMade(undefined);
      const group = await store.client.createGroup({ name: name().trim(), shared: shared() });
      setMade(group.name);
      setName("");
    });
  return (
    <>
      <h1>{browseText.newGroup}</h1>
      <Form onSubmit={() => make()} error={problem() ?? making.error()}>
        <label>
          {browseText.name}
          <input type="text" dir="auto" autocomplete="off" aria-invalid={problem() === undefined ? "false" : "true"} value={name()} onInput={(event) => setName(event.currentTarget.value)} />
        </label>
        <fieldset>
          <legend>{browseText.visibility}</legend>
          <label class="check">
            <input type="radio" name={radio} checked={shared()} onChange={() => setShared(true)} /> {browseText.shared}
          </label>
          <label class="check">
            <input type="radio" name={radio} checked={!shared()} onChange={() => setShared(false)} /> {browseText.privateGroup}
          </label>
        </fieldset>
        <div class="actions">
          <Button type="submit" class="primary" busy={making.busy()} disabled={problem() !== undefined || name().trim() === ""}>
            {making.busy() ? browseText.creating : browseText.create}
          </Button>
          <span role="status" class="dim small">
            <Show when={made()}>{(group) => <>{browseText.groupMade(visibleLine(group()))}</>}</Show>
          </span>
        </div>
      </Form>
    </>
  );
};
