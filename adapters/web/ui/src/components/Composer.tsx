/** Where a person writes a message into a topic. What was typed stays with its topic until it is sent. */
import { createMemo, createSignal, createUniqueId, Loading, Show, untrack, useContext } from "solid-js";
import type { Component } from "solid-js";
import { lazyPart } from "../lazy";
import { isUncertain } from "../model/client";
import type { Channel, Topic, TopicId } from "../model/types";
import { StoreContext } from "../store/context";
import { askComposerText, composerText } from "../strings";
import { createAgain } from "./again";
import { sendingFailed } from "./failure";
import { MessageField } from "./MessageField";
import { blocksProblem, postingRefused, textBlocks } from "./posting";
import "./controls.css";
import "./Composer.css";

export interface ComposerProps {
  readonly channel: Channel;
  readonly topic: Topic;
}

const AskComposer = lazyPart(() => import("./AskComposer"));

const draftKey = (topic: TopicId): string => `message:${topic}`;

/** Made anew for each topic, so that neither a draft nor an error follows a switch. */
export const Composer: Component<ComposerProps> = (props) => {
  const topicId = createMemo(() => props.topic.id);
  return (
    <Show when={topicId()} keyed>
      {(id) => <TopicComposer {...props} topicId={id} />}
    </Show>
  );
};

const TopicComposer: Component<ComposerProps & { readonly topicId: TopicId }> = (props) => {
  const store = useContext(StoreContext);
  const note = createUniqueId();
  const topicId = untrack(() => props.topicId);
  const [text, setText] = createSignal(untrack(() => store.draft(draftKey(topicId))));
  const [inFlight, setInFlight] = createSignal(0);
  const [error, setError] = createSignal<string | undefined>(undefined);
  const blocks = createMemo(() => textBlocks(text()));
  const refused = () => postingRefused(store.state(), props.channel);
  const problem = () => blocksProblem(blocks());
  const stopped = () => refused() !== undefined || problem() !== undefined || blocks().length === 0;

  const type = (next: string) => {
    setText(next);
    store.setDraft(draftKey(topicId), next);
    if (next.trim() === "") store.endPost(props.channel.id, { kind: "id", id: topicId }, "text");
  };
  /** What was sent and may have been kept. */
  const [unknown, setUnknown] = createSignal<string | undefined>(undefined);
  let isAgain = false;
  const send = async () => {
    if (stopped() || isAgain) return;
    const [sent, content] = [text(), blocks()];
    setText("");
    setError(undefined);
    setUnknown(undefined);
    await post(sent, content);
  };
  /** True if it is kept. */
  const post = async (sent: string, content: ReturnType<typeof blocks>): Promise<boolean> => {
    setInFlight((count) => count + 1);
    try {
      await store.post(props.channel.id, { kind: "id", id: topicId }, content);
      // Until here the draft still held what was sent, for a reload in between.
      if (store.draft(draftKey(topicId)) === sent) store.setDraft(draftKey(topicId), "");
      return true;
    } catch (failure) {
      if (text() === "") type(sent);
      setError(sendingFailed(failure));
      setUnknown(isUncertain(failure) ? sent : undefined);
      return false;
    } finally {
      setInFlight((count) => count - 1);
    }
  };
  createAgain(
    () => unknown() !== undefined && unknown() === text(),
    async () => {
      const [sent, content] = [text(), blocks()];
      isAgain = true;
      const isKept = await post(sent, content);
      isAgain = false;
      if (!isKept) return;
      setError(undefined);
      setUnknown(undefined);
      if (text() === sent) setText("");
    },
  );
  const [isAsking, setAsking] = createSignal(false);
  return (
    <div class="composer">
      <Show when={isAsking()}>
        <Loading>
          <AskComposer channel={props.channel} topic={{ kind: "id", id: topicId }} onDone={() => setAsking(false)} />
        </Loading>
      </Show>
      <div class="composer-row">
        <MessageField
          label={composerText.label}
          placeholder={composerText.placeholder}
          channel={props.channel}
          value={text()}
          disabled={refused() !== undefined}
          invalid={problem() !== undefined}
          describedBy={note}
          onInput={type}
          onSend={() => void send()}
        />
        <button type="button" class="primary" disabled={stopped()} onClick={() => void send()}>
          {composerText.send}
        </button>
        <button type="button" class="quiet" aria-expanded={isAsking() ? "true" : "false"} disabled={refused() !== undefined} onClick={() => setAsking((before) => !before)}>
          {askComposerText.open}
        </button>
      </div>
      <p id={note} class={["composer-note", { bad: problem() !== undefined }]}>
        {refused() ?? problem() ?? (props.topic.archived ? composerText.archived : composerText.keys)}
      </p>
      <span class="visually-hidden" role="status">
        {inFlight() > 0 ? composerText.sending : ""}
      </span>
      <Show when={error()}>
        {(text) => (
          <p class="composer-error" role="alert" dir="auto">
            {text()}
          </p>
        )}
      </Show>
    </div>
  );
};
