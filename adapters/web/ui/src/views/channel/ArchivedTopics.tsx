/** Archived topics of a channel, shown when somebody wants to see them. */
import { createMemo, createSignal, Show, useContext } from "solid-js";
import type { Component } from "solid-js";
import { topicsOf } from "../../model/select";
import type { ChannelId } from "../../model/types";
import { StoreContext } from "../../store/context";
import { channelText } from "../../strings";
import { TopicRows } from "./TopicList";

export const ArchivedTopics: Component<{ readonly channelId: ChannelId }> = (props) => {
  const store = useContext(StoreContext);
  const [open, setOpen] = createSignal(false);
  const topics = createMemo(() => topicsOf(store.state(), props.channelId, true));
  return (
    <section class="archived">
      <div class="actions">
        <button type="button" aria-expanded={open() ? "true" : "false"} onClick={() => setOpen((is) => !is)}>
          {open() ? channelText.hideArchived : channelText.showArchived}
        </button>
      </div>
      <Show when={open()}>
        <h2>{channelText.archived}</h2>
        <Show when={topics().length > 0} fallback={<p class="dim">{channelText.noArchived}</p>}>
          <TopicRows topics={topics()} />
        </Show>
      </Show>
    </section>
  );
};
