/** Who may post in a channel, and whether everybody in it is subscribed. */
import { createSignal, createUniqueId, Show, useContext } from "solid-js";
import type { Component } from "solid-js";
import { Button } from "../../components/Button";
import { handleOf } from "../../model/select";
import { visibleLine } from "../../model/text";
import type { Channel } from "../../model/types";
import { createAction } from "../../shell/action";
import { Form } from "../../shell/Form";
import { StoreContext } from "../../store/context";
import { channelText } from "../../strings";

export const PolicyForm: Component<{ readonly channel: Channel }> = (props) => {
  const store = useContext(StoreContext);
  const name = createUniqueId();
  const saving = createAction();
  // Follow the channel until the person chooses something else.
  const [ownerOnly, setOwnerOnly] = createSignal(() => props.channel.ownerOnly);
  const [mandatory, setMandatory] = createSignal(() => props.channel.mandatory);
  const [saved, setSaved] = createSignal(false);
  const owner = () => props.channel.ownerId ?? store.state().me;
  const changed = () => ownerOnly() !== props.channel.ownerOnly || mandatory() !== props.channel.mandatory;
  const save = async () => {
    setSaved(false);
    const policy = { ownerOnly: ownerOnly(), ownerId: ownerOnly() ? owner() : undefined, mandatory: mandatory() };
    setSaved(await saving.run(() => store.client.setPolicy(props.channel.id, policy)));
  };
  return (
    <Form onSubmit={() => save()} error={saving.error()}>
      <fieldset>
        <legend>{channelText.policy}</legend>
        <label class="check">
          <input type="radio" name={name} checked={!ownerOnly()} onChange={() => setOwnerOnly(false)} /> {channelText.policyOpen}
        </label>
        <label class="check">
          <input type="radio" name={name} checked={ownerOnly()} onChange={() => setOwnerOnly(true)} /> {channelText.policyOwnerIs(visibleLine(handleOf(store.state(), owner())))}
        </label>
      </fieldset>
      <label class="check">
        <input type="checkbox" checked={mandatory()} onChange={(event) => setMandatory(event.currentTarget.checked)} /> {channelText.mandatory}
      </label>
      <div class="actions">
        <Button type="submit" busy={saving.busy()} disabled={!changed()}>
          {saving.busy() ? channelText.saving : channelText.save}
        </Button>
        <Show when={saved() && !changed()}>
          <span role="status" class="dim small">
            {channelText.saved}
          </span>
        </Show>
      </div>
    </Form>
  );
};
