/** One row of a stream: its message, with the day and the mark of what is new where they begin. */
import { Show } from "solid-js";
import type { Component } from "solid-js";
import { ReachContext } from "../keyboard/reach";
import type { ChannelId } from "../model/types";
import { messageText } from "../strings";
import { dayName } from "./clock";
import { MessageRow } from "./MessageRow";
import type { Row } from "./stream-rows";

export interface StreamRowProps {
  readonly row: Row;
  readonly channelId: ChannelId;
  readonly highlighted: boolean;
  /** The one row that Tab comes to. */
  readonly isStop: boolean;
  /** Watches the height of the element; the id is in `data-row`. */
  readonly measure: (element: HTMLElement) => void;
}

export const StreamRow: Component<StreamRowProps> = (props) => (
  <div class="stream-row" data-row={props.row.id} ref={(element) => props.measure(element)}>
    <Show when={props.row.startsDay}>
      <p class="stream-day">
        <span>{dayName(props.row.message.at)}</span>
      </p>
    </Show>
    <Show when={props.row.startsUnread}>
      <p class="stream-unread">
        <span>{messageText.unreadFrom}</span>
      </p>
    </Show>
    <ReachContext value={() => props.isStop}>
      <MessageRow message={props.row.message} channelId={props.channelId} highlighted={props.highlighted} />
    </ReachContext>
  </div>
);
