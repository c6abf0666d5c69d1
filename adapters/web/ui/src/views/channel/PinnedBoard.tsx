/** What is pinned in a channel, in the board's order. */
import { createEffect, createMemo, createSignal, For, Show, untrack, useContext } from "solid-js";
import type { Component } from "solid-js";
import { AccountName } from "../../components/AccountName";
import { pinnedBoard } from "../../model/select";
import { clipped, firstText, visible } from "../../model/text";
import type { Channel, Message } from "../../model/types";
import { messagePath } from "../../router/paths";
import { createReading } from "../../shell/action";
import { StoreContext } from "../../store/context";
import { channelText } from "../../strings";

const CLIPPED = 200;

export const PinnedBoard: Component<{ readonly channel: Channel }> = (props) => {
  const store = useContext(StoreContext);
  const channelId = untrack(() => props.channel.id);
  const [read, setRead] = createSignal<readonly Message[] | undefined>(undefined);
  const reading = createReading(() => store.client.listPinned(channelId), setRead);
  // Topics are read when they are opened, so most of what is pinned is not loaded.
  createEffect(
    () => (store.connection().kind === "live" ? props.channel.pins.map((pin) => pin.messageId).join(" ") : ""),
    (pins) => {
      if (pins !== "") void reading.refresh();
    },
  );
  const board = createMemo(() => pinnedBoard(store.state(), props.channel, read() ?? []));
  /** As many lines as are to come: nothing below moves when they do. */
  const toCome = createMemo(() => (read() === undefined && reading.error() === undefined ? props.channel.pins.slice(board().length) : []));
  return (
    <Show when={props.channel.pins.length > 0 && (board().length + toCome().length > 0 || reading.error() !== undefined)}>
      <section class="pinned" aria-labelledby="pinned">
        <h2 id="pinned">{channelText.pinned}</h2>
        <ol>
          <For each={board()} keyed={(entry) => entry.pin.messageId}>
            {(entry) => (
              <li>
                <AccountName id={entry().message.authorId} />{" "}
                <a href={messagePath(channelId, entry().message.topicId, entry().message.id)}>
                  <bdi>{clipped(firstText(entry().message.blocks), CLIPPED)}</bdi>
                </a>
              </li>
            )}
          </For>
          <For each={toCome()}>{() => <li class="dim">{channelText.readingPinned}</li>}</For>
        </ol>
        <Show when={reading.error()}>
          {(error) => (
            <p role="alert">
              {visible(error())}{" "}
              <button type="button" class="quiet" onClick={() => void reading.refresh()}>
                {channelText.again}
              </button>
            </p>
          )}
        </Show>
      </section>
    </Show>
  );
};
