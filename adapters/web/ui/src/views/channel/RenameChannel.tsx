/** Gives a channel another name. */
import { createSignal, useContext } from "solid-js";
import type { Component } from "solid-js";
import { Button } from "../../components/Button";
import { nameProblem } from "../../components/named";
import type { Channel } from "../../model/types";
import { createAction } from "../../shell/action";
import { Form } from "../../shell/Form";
import { StoreContext } from "../../store/context";
import { channelText, namedText } from "../../strings";

export const RenameChannel: Component<{ readonly channel: Channel }> = (props) => {
  const store = useContext(StoreContext);
  const [name, setName] = createSignal(() => props.channel.name);
  const saving = createAction();
  const wanted = () => name().trim();
  const problem = () => nameProblem(namedText.theName, name());
  return (
    <Form onSubmit={() => saving.run(() => store.client.updateMembers(props.channel.id, { newName: wanted() }))} error={problem() ?? saving.error()}>
      <label>
        {channelText.rename}
        <span class="actions">
          <input type="text" dir="auto" autocomplete="off" aria-invalid={problem() === undefined ? "false" : "true"} value={name()} onInput={(event) => setName(event.currentTarget.value)} />
          <Button type="submit" busy={saving.busy()} disabled={problem() !== undefined || wanted() === "" || wanted() === props.channel.name}>
            {channelText.save}
          </Button>
        </span>
      </label>
    </Form>
  );
};
