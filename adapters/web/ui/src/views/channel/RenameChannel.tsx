/** Gives a channel another name. */
import { createUniqueId, useContext } from "solid-js";
import type { Component } from "solid-js";
import { Button } from "../../components/Button";
import { ChannelNamesake } from "../../components/ChannelNamesake";
import { nameProblem } from "../../components/named";
import type { Channel } from "../../model/types";
import { createAction } from "../../shell/action";
import { createEdited } from "../../shell/edited";
import { Form } from "../../shell/Form";
import { StoreContext } from "../../store/context";
import { channelText, namedText } from "../../strings";

export const RenameChannel: Component<{ readonly channel: Channel }> = (props) => {
  const store = useContext(StoreContext);
  const name = createEdited(() => props.channel.name);
  const saving = createAction();
  const hint = createUniqueId();
  const wanted = () => name.value().trim();
  const problem = () => nameProblem(namedText.theName, name.value());
  const rename = async () => {
    const kept = name.sending();
    if (await saving.run(() => store.client.updateMembers(props.channel.id, { newName: wanted() }))) kept();
  };
  return (
    <Form onSubmit={() => rename()} error={problem() ?? saving.error()}>
      <label>
        {channelText.rename}
        <span class="actions">
          <input type="text" dir="auto" autocomplete="off" aria-describedby={hint} aria-invalid={problem() === undefined ? "false" : "true"} value={name.value()} onInput={(event) => name.edit(event.currentTarget.value)} />
          <Button type="submit" busy={saving.busy()} disabled={problem() !== undefined || wanted() === "" || wanted() === props.channel.name}>
            {channelText.save}
          </Button>
        </span>
      </label>
      <ChannelNamesake id={hint} name={name.value()} except={props.channel.id} />
    </Form>
  );
};
