/** Says that a name is another channel's already. It may be given all the same: two groups may have one each. */
import { createMemo, useContext } from "solid-js";
import type { Component } from "solid-js";
import { channelNamed } from "../model/namesake";
import { groupOf } from "../model/select";
import { visibleLine } from "../model/text";
import type { ChannelId } from "../model/types";
import { StoreContext } from "../store/context";
import { namedText } from "../strings";

/** `id` is what the field is described by; `except` the channel whose name it is. */
export const ChannelNamesake: Component<{ readonly id: string; readonly name: string; readonly except?: ChannelId }> = (props) => {
  const store = useContext(StoreContext);
  const said = createMemo(() => {
    const other = channelNamed(store.state(), props.name, props.except);
    if (!other) return "";
    const group = groupOf(store.state(), other);
    return namedText.channelThere(visibleLine(other.name), group && visibleLine(group.name));
  });
  return (
    <span class="hint" id={props.id} role="status">
      {said()}
    </span>
  );
};
