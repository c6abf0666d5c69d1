/** Begins a topic: its name and its first message, posted as one. */
import { createMemo, createUniqueId, onCleanup, Show, untrack, useContext } from "solid-js";
import type { Component } from "solid-js";
import { keepFocus } from "../keyboard/keep-focus";
import { topicNamed } from "../model/namesake";
import { visible, visibleLine } from "../model/text";
import type { Channel, ChannelId, Message } from "../model/types";
import { StoreContext } from "../store/context";
import { newTopicDrafts } from "../store/drafts";
import { composerText, topicText } from "../strings";
import { createAsked } from "./asked";
import { Button } from "./Button";
import { MessageField } from "./MessageField";
import { nameProblem } from "./named";
import { Outbox } from "./Outbox";
import { blocksProblem, postingRefused, textBlocks } from "./posting";
import { Sure } from "./Sure";
import "./NewTopic.css";

export interface NewTopicProps {
  readonly channel: Channel;
  /** The first message is stored; it says in which topic. */
  readonly onStarted: (message: Message) => void;
}

export const NewTopic: Component<NewTopicProps> = (props) => {
  const channelId = createMemo(() => props.channel.id);
  return (
    <Show when={channelId()} keyed>
      {(id) => <Fields {...props} channelId={id} />}
    </Show>
  );
};

const Fields: Component<NewTopicProps & { readonly channelId: ChannelId }> = (props) => {
  const store = useContext(StoreContext);
  const { outbox, drafts } = store;
  const channelId = untrack(() => props.channelId);
  const keys = newTopicDrafts(channelId);
  const [nameId, note] = [createUniqueId(), createUniqueId()];
  const name = () => drafts.read(keys.name);
  const text = () => drafts.read(keys.text);
  const blocks = createMemo(() => textBlocks(text()));
  const refused = () => postingRefused(store.state(), props.channel);
  const badName = () => nameProblem(topicText.theName, name());
  const problem = () => badName() ?? blocksProblem(blocks());
  const stopped = () => refused() !== undefined || problem() !== undefined || name().trim() === "" || blocks().length === 0;
  const unsent = createMemo(() => outbox.topicsOf(channelId));
  let field: HTMLElement | undefined;
  let isLeft = false;
  onCleanup(() => {
    isLeft = true;
  });
  const other = createMemo(() => topicNamed(store.state(), channelId, name()));
  const [sure, setSure] = createAsked(() => other()?.id);
  const post = () => {
    if (stopped()) return;
    setSure(false);
    outbox.send({ kind: "topic", channelId, name: name().trim(), text: text() }, (message) => {
      // Meanwhile something else may have been begun, here or elsewhere.
      const isFree = Object.values(keys).every((key) => drafts.read(key) === "");
      if (!isLeft && isFree) props.onStarted(message);
    });
    for (const key of Object.values(keys)) drafts.write(key, "");
  };
  const start = () => {
    if (stopped() || !other()) post();
    else setSure(true);
  };
  return (
    <section class="new-topic" aria-label={composerText.newTopic} ref={keepFocus({ or: () => field })}>
      <Outbox sent={unsent()} outbox={outbox} onGone={() => field?.focus()} />
      <label for={nameId}>{composerText.topicName}</label>
      <input
        id={nameId}
        ref={(element) => (field = element)}
        type="text"
        dir="auto"
        autocomplete="off"
        readonly={refused() !== undefined}
        aria-describedby={note}
        aria-invalid={badName() === undefined ? "false" : "true"}
        value={name()}
        onInput={(event) => drafts.write(keys.name, event.currentTarget.value)}
      />
      <div class="message-field-row">
        <MessageField
          label={composerText.firstMessage}
          placeholder={composerText.firstMessage}
          channel={props.channel}
          value={text()}
          locked={refused() !== undefined}
          invalid={blocksProblem(blocks()) !== undefined}
          describedBy={note}
          onInput={(text) => drafts.write(keys.text, text)}
          onSend={start}
        />
        <Button type="button" class="primary" disabled={stopped()} onClick={start}>
          {composerText.startTopic}
        </Button>
      </div>
      <p id={note} class={["new-topic-note", { bad: problem() !== undefined }]}>
        {refused() ?? problem() ?? composerText.keys}
      </p>
      <Show when={sure() && other()}>
        {(into) => <Sure question={topicText.postSure(visibleLine(into().name))} yes={topicText.postThere} onYes={post} onNo={() => setSure(false)} />}
      </Show>
      <Show when={outbox.refusal(keys.text)}>
        {(reason) => (
          <p class="new-topic-note bad" role="alert" dir="auto">
            {composerText.failed(visible(reason()))}
          </p>
        )}
      </Show>
    </section>
  );
};
