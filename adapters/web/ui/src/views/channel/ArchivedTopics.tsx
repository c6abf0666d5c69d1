/** Archived topics of a channel, read when somebody wants to see them. */
import { createMemo, createSignal, Show, useContext } from "solid-js";
import type { Component } from "solid-js";
import { Button } from "../../components/Button";
import { topicsOf } from "../../model/select";
import type { ChannelId } from "../../model/types";
import { createAction } from "../../shell/action";
import { StoreContext } from "../../store/context";
import { channelText } from "../../strings";
import { TopicRows } from "./TopicList";

export const ArchivedTopics: Component<{ readonly channelId: ChannelId }> = (props) => {
  const store = useContext(StoreContext);
  const [open, setOpen] = createSignal(false);
  const reading = createAction();
  const topics = createMemo(() => topicsOf(store.state(), props.channelId, true));
  const toggle = async () => {
    if (open()) setOpen(false);
    else if (await reading.run(() => store.loadArchived(props.channelId))) setOpen(true);
  };
  return (
    <section class="archived">
      <div class="actions">
        <Button type="button" aria-expanded={open() ? "true" : "false"} busy={reading.busy()} onClick={() => void toggle()}>
          {open() ? channelText.hideArchived : channelText.showArchived}
        </Button>
        <span role="alert" class="error">
          {reading.error()}
        </span>
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
