/** One message: who, when, what it holds, and what can be done with it. */
import { createMemo, createSignal, createUniqueId, For, Match, Show, Switch, useContext } from "solid-js";
import type { Component } from "solid-js";
import { ReachContext, tabIndex } from "../keyboard/reach";
import { Markdown } from "../markdown/Markdown";
import { takesPart } from "../model/account";
import { messageFlags } from "../model/text";
import type { Block, ChannelId, Message } from "../model/types";
import { messagePath } from "../router/paths";
import { StoreContext } from "../store/context";
import { messageText } from "../strings";
import { AccountName } from "./AccountName";
import { AnswerCard } from "./AnswerCard";
import { AskBlock } from "./AskBlock";
import { Button } from "./Button";
import { CopyLink } from "./CopyLink";
import { Time } from "./Time";
import "./controls.css";
import "./MessageRow.css";

export interface MessageRowProps {
  readonly message: Message;
  readonly channelId: ChannelId;
  /** The message an address led to. */
  readonly highlighted?: boolean;
}

export const MessageRow: Component<MessageRowProps> = (props) => {
  const store = useContext(StoreContext);
  const title = createUniqueId();
  const stop = tabIndex();
  const kind = () => store.state().accounts.get(props.message.authorId)?.kind ?? "unknown";
  return (
    <article class={["message", kind(), { highlighted: props.highlighted === true }]} aria-labelledby={title} tabindex={stop()} data-message={props.message.id}>
      <header class="message-top">
        <span id={title} class="message-title">
          <AccountName id={props.message.authorId} /> <Time at={props.message.at} />
        </span>
        <For each={messageFlags(props.message)}>
          {() => (
            <abbr class="message-flag" title={messageText.askFlagLabel}>
              {messageText.askFlag}
            </abbr>
          )}
        </For>
        <Actions {...props} />
      </header>
      <div class="message-body">
        <For each={props.message.blocks} keyed={false} fallback={<p class="message-empty">{messageText.empty}</p>}>
          {(block) => <BlockView block={block()} message={props.message} channelId={props.channelId} />}
        </For>
      </div>
    </article>
  );
};

const BlockView: Component<{ readonly block: Block; readonly message: Message; readonly channelId: ChannelId }> = (props) => {
  const text = createMemo(() => (props.block.kind === "text" ? props.block : undefined));
  const ask = createMemo(() => (props.block.kind === "ask" ? props.block.ask : undefined));
  const answer = createMemo(() => (props.block.kind === "answer" ? props.block.ask : undefined));
  const isReached = useContext(ReachContext);
  return (
    <Switch fallback={<p class="message-unknown">{messageText.unknownBlock}</p>}>
      <Match when={text()}>{(found) => <Markdown text={found().text} />}</Match>
      <Match when={ask()}>
        {(found) => (
          // What waits for an answer is come to by Tab wherever one is.
          <ReachContext value={() => found().end.kind === "open" || isReached()}>
            <AskBlock message={props.message} ask={found()} channelId={props.channelId} />
          </ReachContext>
        )}
      </Match>
      <Match when={answer()}>{(found) => <AnswerCard ask={found()} authorId={props.message.authorId} />}</Match>
    </Switch>
  );
};

const Actions: Component<MessageRowProps> = (props) => {
  const store = useContext(StoreContext);
  const [busy, setBusy] = createSignal(false);
  const stop = tabIndex();
  const channel = createMemo(() => store.state().channels.get(props.channelId));
  const pinned = () => channel()?.pins.some((pin) => pin.messageId === props.message.id) === true;
  const mayPin = () => {
    const found = channel();
    return found !== undefined && takesPart(found, store.state().me, store.state().accounts);
  };
  const toggle = async () => {
    const where = pinned() ? "unpin" : "pin";
    if (busy()) return;
    setBusy(true);
    try {
      // The channel comes back over the stream, with its pins.
      await store.client[where](props.channelId, props.message.id);
    } catch (error) {
      store.report(where, error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <Show when={pinned()}>
        <span class="message-pinned">{messageText.pinned}</span>
      </Show>
      <div class="message-actions" role="group" aria-label={messageText.actions}>
        <Show when={mayPin()}>
          <Button type="button" class="quiet" tabindex={stop()} busy={busy()} onClick={() => void toggle()}>
            {pinned() ? messageText.unpin : messageText.pin}
          </Button>
        </Show>
        <CopyLink path={messagePath(props.channelId, props.message.topicId, props.message.id)} label={messageText.copyLink} />
      </div>
    </>
  );
};
