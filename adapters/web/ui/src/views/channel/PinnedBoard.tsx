/** What is pinned in a channel, in the board's order. */
import { createMemo, For, Show, useContext } from "solid-js";
import type { Component } from "solid-js";
import { AccountName } from "../../components/AccountName";
import { pinnedBoard } from "../../model/select";
import { clipped, firstText } from "../../model/text";
import type { Channel } from "../../model/types";
import { messagePath } from "../../router/paths";
import { StoreContext } from "../../store/context";
import { channelText } from "../../strings";

const CLIPPED = 200;

export const PinnedBoard: Component<{ readonly channel: Channel }> = (props) => {
  const store = useContext(StoreContext);
  const board = createMemo(() => pinnedBoard(store.state(), props.channel));
  return (
    <Show when={board().length > 0}>
      <section class="pinned" aria-labelledby="pinned">
        <h2 id="pinned">{channelText.pinned}</h2>
        <ol>
          <For each={board()} keyed={(entry) => entry.pin.messageId}>
            {(entry) => (
              <li>
                <AccountName id={entry().message.authorId} />{" "}
                <a href={messagePath(props.channel.id, entry().message.topicId, entry().message.id)}>
                  <bdi>{clipped(firstText(entry().message.blocks), CLIPPED)}</bdi>
                </a>
              </li>
            )}
          </For>
        </ol>
      </section>
    </Show>
  );
};
