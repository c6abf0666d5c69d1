/** Members of a channel, who may post in it, and its name. */
import type { Component } from "solid-js";
import { Show, useContext } from "solid-js";
import type { Channel } from "../../model/types";
import { StoreContext } from "../../store/context";
import { channelText } from "../../strings";
import { AddMember, MemberList } from "./Members";
import { PolicyForm } from "./PolicyForm";
import { RenameChannel } from "./RenameChannel";
import "./ChannelPanel.css";

export const ChannelPanel: Component<{ readonly channel: Channel }> = (props) => {
  const store = useContext(StoreContext);
  const isPlain = () => props.channel.kind === "channel";
  /** An owned channel's rules are its owner's; of one without an owner, everybody's who takes part. */
  const mayRule = () => isPlain() && (props.channel.ownerId === undefined || props.channel.ownerId === store.state().me);
  return (
    <section class="card channel-panel" aria-labelledby="members">
      <h2 id="members">
        {channelText.members} <span class="dim">{props.channel.memberIds.length}</span>
      </h2>
      <MemberList channel={props.channel} editable={isPlain()} />
      <Show when={isPlain()}>
        <AddMember channel={props.channel} />
        <RenameChannel channel={props.channel} />
      </Show>
      <Show when={mayRule()}>
        <PolicyForm channel={props.channel} />
      </Show>
    </section>
  );
};
