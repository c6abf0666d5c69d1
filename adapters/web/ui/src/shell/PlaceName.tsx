/** Channel and topic of a message, as a link or as words. */
import { createMemo, Show, useContext } from "solid-js";
import type { Component } from "solid-js";
import { channelLabel } from "../model/select";
import { visibleLine } from "../model/text";
import type { Message } from "../model/types";
import { channelPath, messagePath } from "../router/paths";
import { StoreContext } from "../store/context";
import { messageText } from "../strings";
import { placeOf } from "./place";
import "./PlaceName.css";

export const PlaceName: Component<{ readonly message: Pick<Message, "id" | "topicId">; readonly link?: boolean }> = (props) => {
  const store = useContext(StoreContext);
  const place = createMemo(() => placeOf(store.state(), props.message));
  return (
    <Show when={place()} fallback={<span class="place dim">{messageText.elsewhere}</span>}>
      {(at) => {
        const channel = () => visibleLine(channelLabel(store.state(), at().channel));
        const topic = () => visibleLine(at().topic.name);
        return (
          <span class="place">
            <Show when={props.link} fallback={<bdi>{channel()}</bdi>}>
              <a href={channelPath(at().channel.id)}>
                <bdi>{channel()}</bdi>
              </a>
            </Show>
            <span aria-hidden="true"> › </span>
            <Show when={props.link} fallback={<bdi>{topic()}</bdi>}>
              <a href={messagePath(at().channel.id, at().topic.id, props.message.id)}>
                <bdi>{topic()}</bdi>
              </a>
            </Show>
          </span>
        );
      }}
    </Show>
  );
};
