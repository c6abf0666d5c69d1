/** Begins a topic: its name and its first message, posted as one. */
import { createMemo, createSignal, createUniqueId, onCleanup, Show, untrack, useContext } from "solid-js";
import type { Component } from "solid-js";
import { isUncertain } from "../model/client";
import type { Channel, ChannelId, Message } from "../model/types";
import { StoreContext } from "../store/context";
import { composerText } from "../strings";
import { createAgain } from "./again";
import { Button } from "./Button";
import { sendingFailed } from "./failure";
import { MessageField } from "./MessageField";
import { nameProblem } from "./named";
import { blocksProblem, postingRefused, textBlocks } from "./posting";
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
  const drafts = store.outbox.written;
  const channelId = untrack(() => props.channelId);
  const [nameKey, textKey] = [`topic-name:${channelId}`, `topic-text:${channelId}`];
  const [nameId, note] = [createUniqueId(), createUniqueId()];
  const [name, setName] = createSignal(store.draft(nameKey));
  const [text, setText] = createSignal(store.draft(textKey));
  const [isPosting, setPosting] = createSignal(false);
  const [error, setError] = createSignal<string | undefined>(undefined);
  const blocks = createMemo(() => textBlocks(text()));
  const refused = () => postingRefused(store.state(), props.channel);
  const badName = () => nameProblem(composerText.theTopicName, name());
  const problem = () => badName() ?? blocksProblem(blocks());
  const stopped = () => refused() !== undefined || problem() !== undefined || name().trim() === "" || blocks().length === 0;

  const write = (key: string, set: (text: string) => void) => (next: string) => {
    set(next);
    drafts.write(key, next);
    if (key === nameKey) drafts.renewKey(textKey);
  };
  const [writeName, writeText] = [write(nameKey, setName), write(textKey, setText)];
  /** What was sent and may have been kept. */
  const [unknown, setUnknown] = createSignal<string | undefined>(undefined);
  const written = () => JSON.stringify([name(), text()]);
  let isOnItsWay = false;
  let isLeft = false;
  onCleanup(() => {
    isLeft = true;
  });
  const post = async () => {
    if (stopped() || isOnItsWay) return;
    const sent = written();
    isOnItsWay = true;
    try {
      const posted = await store.post(channelId, { kind: "name", name: name().trim() }, blocks(), drafts.postKey(textKey));
      setError(undefined);
      // Meanwhile something else may have been begun, here or elsewhere.
      if (written() !== sent) return;
      writeName("");
      writeText("");
      if (!isLeft) props.onStarted(posted);
    } catch (failure) {
      setError(sendingFailed(failure));
      setUnknown(isUncertain(failure) ? sent : undefined);
    } finally {
      isOnItsWay = false;
    }
  };
  const begin = async () => {
    if (isPosting()) return;
    setPosting(true);
    setError(undefined);
    setUnknown(undefined);
    await post();
    setPosting(false);
  };
  // The fields stay as they are: the person may be in one of them.
  createAgain(() => unknown() === written(), post);
  return (
    <section class="new-topic" aria-label={composerText.newTopic}>
      <label for={nameId}>{composerText.topicName}</label>
      <input
        id={nameId}
        type="text"
        dir="auto"
        autocomplete="off"
        disabled={refused() !== undefined}
        readonly={isPosting()}
        aria-describedby={note}
        aria-invalid={badName() === undefined ? "false" : "true"}
        value={name()}
        onInput={(event) => writeName(event.currentTarget.value)}
      />
      <div class="new-topic-row">
        <MessageField
          label={composerText.firstMessage}
          placeholder={composerText.firstMessage}
          channel={props.channel}
          value={text()}
          disabled={refused() !== undefined}
          readonly={isPosting()}
          invalid={blocksProblem(blocks()) !== undefined}
          describedBy={note}
          onInput={writeText}
          onSend={() => void begin()}
        />
        <Button type="button" class="primary" busy={isPosting()} disabled={stopped()} onClick={() => void begin()}>
          {composerText.startTopic}
        </Button>
      </div>
      <p id={note} class={["new-topic-note", { bad: problem() !== undefined }]}>
        {refused() ?? problem() ?? composerText.keys}
      </p>
      <Show when={error()}>
        {(text) => (
          <p class="new-topic-note bad" role="alert" dir="auto">
            {text()}
          </p>
        )}
      </Show>
    </section>
  );
};
