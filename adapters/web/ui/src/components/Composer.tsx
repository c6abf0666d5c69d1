/** Where a person writes a message into a topic. What was typed stays with its topic until it is sent. */
import { createEffect, createMemo, createSignal, createUniqueId, Loading, Show, untrack, useContext } from "solid-js";
import type { Component } from "solid-js";
import { keepFocus } from "../keyboard/keep-focus";
import { lazyPart } from "../lazy";
import { topicNow } from "../model/select";
import { visible } from "../model/text";
import type { Channel, Topic, TopicId } from "../model/types";
import { StoreContext } from "../store/context";
import { askDraft, messageDraft } from "../store/drafts";
import { askComposerText, composerText } from "../strings";
import { Button } from "./Button";
import { MessageField } from "./MessageField";
import { Outbox } from "./Outbox";
import { blocksProblem, postingRefused, textBlocks } from "./posting";
import { successor } from "./successor";
import "./controls.css";
import "./Composer.css";

export interface ComposerProps {
  readonly channel: Channel;
  readonly topic: Topic;
}

const AskComposer = lazyPart(() => import("./AskComposer"));

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
  const { outbox, drafts } = store;
  const draft = messageDraft(topicId);
  const text = () => drafts.read(draft);
  const type = (next: string) => drafts.write(draft, next);
  const blocks = createMemo(() => textBlocks(text()));
  const refused = () => postingRefused(store.state(), props.channel);
  const problem = () => blocksProblem(blocks());
  const stopped = () => refused() !== undefined || problem() !== undefined || blocks().length === 0;
  const unsent = createMemo(() => outbox.of(props.channel.id, topicId));
  const send = () => {
    if (stopped()) return;
    outbox.send({ kind: "message", channelId: props.channel.id, topicId, text: text() });
    type("");
  };
  let composer: HTMLElement | undefined;
  let row: HTMLElement | undefined;
  let asker: HTMLElement | undefined;
  const field = () => row?.querySelector("textarea");
  const heir = (gone: HTMLElement) => (composer?.isConnected === false ? successor(gone, composer, topicNow(untrack(store.state), topicId)) : field());
  const [isAsking, setAsking] = createSignal(untrack(() => drafts.read(askDraft(topicId))) !== "");
  let isWanted = false;
  const toggleAsking = () => {
    isWanted = !isAsking();
    setAsking(isWanted);
  };
  // One may come from a topic that is joined to this one.
  createEffect(() => drafts.read(askDraft(topicId)) !== "", (isBegun) => {
    if (isBegun) setAsking(true);
  });
  return (
    <div class="composer" data-composer={topicId} ref={[keepFocus({ or: heir }), (element) => (composer = element)]}>
      <Show when={isAsking()}>
        <Loading>
          <AskComposer channel={props.channel} topicId={topicId} opener={() => asker} isWanted={() => isWanted} onDone={() => setAsking(false)} />
        </Loading>
      </Show>
      <Outbox sent={unsent()} outbox={outbox} topicId={topicId} onGone={() => field()?.focus()} />
      <div class="message-field-row" ref={(element) => (row = element)}>
        <MessageField
          label={composerText.label}
          placeholder={composerText.placeholder}
          channel={props.channel}
          value={text()}
          locked={refused() !== undefined}
          invalid={problem() !== undefined}
          describedBy={note}
          onInput={type}
          onSend={send}
        />
        {/* While an ask is written, what posts that is the button of the two that stands out. */}
        <Button type="button" class={isAsking() ? "button" : "primary"} disabled={stopped()} onClick={send}>
          {composerText.send}
        </Button>
        <Button type="button" class="quiet" ref={(element) => (asker = element)} aria-expanded={isAsking() ? "true" : "false"} disabled={refused() !== undefined} onClick={toggleAsking}>
          {askComposerText.open}
        </Button>
      </div>
      <p id={note} class={["composer-note", { bad: problem() !== undefined }]}>
        {refused() ?? problem() ?? (props.topic.archived ? composerText.archived : composerText.keys)}
      </p>
      <span class="visually-hidden" role="status">
        {unsent().some((each) => each.kind === "message" && each.status === "sending") ? composerText.sending : ""}
      </span>
      <Show when={outbox.refusal(draft)}>
        {(reason) => (
          <p class="composer-error" role="alert" dir="auto">
            {composerText.failed(visible(reason()))}
          </p>
        )}
      </Show>
    </div>
  );
};
