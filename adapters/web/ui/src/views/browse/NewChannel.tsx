/** Makes a channel and goes there. */
import { createMemo, createSignal, createUniqueId, For, useContext } from "solid-js";
import type { Component } from "solid-js";
import { Button } from "../../components/Button";
import { ChannelNamesake } from "../../components/ChannelNamesake";
import { nameProblem } from "../../components/named";
import { visibleLine } from "../../model/text";
import { channelPath } from "../../router/paths";
import { createAction } from "../../shell/action";
import { Form } from "../../shell/Form";
import { AppContext } from "../../shell/app";
import { StoreContext } from "../../store/context";
import { browseText, namedText, shellText } from "../../strings";

export const NewChannel: Component = () => {
  const store = useContext(StoreContext);
  const app = useContext(AppContext);
  const [name, setName] = createSignal("");
  const [groupId, setGroupId] = createSignal("");
  const [members, setMembers] = createSignal("");
  const making = createAction(new Map([["member_handles", browseText.theMembers]]));
  const hint = createUniqueId();
  const groups = createMemo(() => [...store.state().groups.values()]);
  const problem = () => nameProblem(namedText.theName, name());
  const make = () =>
    making.run(
      () => store.client.createChannel({ name: name().trim(), groupId: groupId() === "" ? undefined : groupId(), memberHandles: handlesIn(members()) }),
      ({ id }) => app.goToNew(id, channelPath(id)),
    );
  return (
    <>
      <h1>{browseText.newChannel}</h1>
      <Form onSubmit={() => make()} error={problem() ?? making.error()}>
        <label>
          {browseText.name}
          <input type="text" dir="auto" autocomplete="off" aria-describedby={hint} aria-invalid={problem() === undefined ? "false" : "true"} value={name()} onInput={(event) => setName(event.currentTarget.value)} />
        </label>
        {/* What is being made is no other one. */}
        <ChannelNamesake id={hint} name={making.busy() ? "" : name()} />
        <label>
          {browseText.group}
          <select value={groupId()} onChange={(event) => setGroupId(event.currentTarget.value)}>
            <option value="">{browseText.noGroup}</option>
            <For each={groups()} keyed={(group) => group.id}>
              {(group) => (
                <option value={group().id}>
                  {visibleLine(group().name)}
                  {group().shared ? ` (${shellText.shared})` : ""}
                </option>
              )}
            </For>
          </select>
        </label>
        <label>
          {browseText.members}
          <input type="text" autocomplete="off" spellcheck={false} value={members()} onInput={(event) => setMembers(event.currentTarget.value)} />
        </label>
        <div class="actions">
          <Button type="submit" class="primary" busy={making.busy()} disabled={problem() !== undefined || name().trim() === ""}>
            {making.busy() ? browseText.creating : browseText.create}
          </Button>
        </div>
      </Form>
    </>
  );
};

/** Handles as people write them: with or without @, separated by spaces or commas. */
export const handlesIn = (text: string): readonly string[] =>
  text.split(/[\s,]+/).map((part) => part.replace(/^@/, "")).filter((part) => part !== "");
