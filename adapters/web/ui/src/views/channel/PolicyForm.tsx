/** Who may post in a channel, and whether everybody in it is subscribed. */
import { createSignal, createUniqueId, Show, useContext } from "solid-js";
import type { Component } from "solid-js";
import { Button } from "../../components/Button";
import { handleOf } from "../../model/select";
import { visibleLine } from "../../model/text";
import type { Channel } from "../../model/types";
import { createAction } from "../../shell/action";
import { createEdited } from "../../shell/edited";
import { Form } from "../../shell/Form";
import { StoreContext } from "../../store/context";
import { channelText } from "../../strings";

export const PolicyForm: Component<{ readonly channel: Channel }> = (props) => {
  const store = useContext(StoreContext);
  const name = createUniqueId();
  const saving = createAction();
  const ownerOnly = createEdited(() => props.channel.ownerOnly);
  const mandatory = createEdited(() => props.channel.mandatory);
  const [saved, setSaved] = createSignal(false);
  const owner = () => props.channel.ownerId ?? store.state().me;
  const changed = () => ownerOnly.value() !== props.channel.ownerOnly || mandatory.value() !== props.channel.mandatory;
  const save = async () => {
    setSaved(false);
    const policy = { ownerOnly: ownerOnly.value(), ownerId: ownerOnly.value() ? owner() : undefined, mandatory: mandatory.value() };
    const kept = [ownerOnly.sending(), mandatory.sending()];
    const isKept = await saving.run(() => store.client.setPolicy(props.channel.id, policy));
    if (isKept) for (const each of kept) each();
    setSaved(isKept);
  };
  return (
    <Form onSubmit={() => save()} error={saving.error()}>
      <fieldset>
        <legend>{channelText.policy}</legend>
        <label class="check">
          <input type="radio" name={name} checked={!ownerOnly.value()} onChange={() => ownerOnly.edit(false)} /> {channelText.policyOpen}
        </label>
        <label class="check">
          <input type="radio" name={name} checked={ownerOnly.value()} onChange={() => ownerOnly.edit(true)} /> {channelText.policyOwnerIs(visibleLine(handleOf(store.state(), owner())))}
        </label>
      </fieldset>
      <label class="check">
        <input type="checkbox" checked={mandatory.value()} onChange={(event) => mandatory.edit(event.currentTarget.checked)} /> {channelText.mandatory}
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
