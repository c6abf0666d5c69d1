/** An ask: open it takes an answer, once; closed it says who closed it and when. */
import { createEffect, createMemo, createUniqueId, For, Match, Show, Switch, useContext } from "solid-js";
import type { Component } from "solid-js";
import { takesText } from "../keyboard/roving";
import { visible } from "../model/text";
import type { Ask, ChannelId, Message } from "../model/types";
import { messagePath } from "../router/paths";
import { answeredCount, isLocked } from "../store/asks";
import { StoreContext } from "../store/context";
import { askText } from "../strings";
import { AccountName } from "./AccountName";
import { AskQuestion } from "./AskQuestion";
import { AskUnsent } from "./AskUnsent";
import { answersProblem, digitIndex, isClosed, lookOf, shownAnswer, textProblem } from "./ask-view";
import { Button } from "./Button";
import { CopyLink } from "./CopyLink";
import { Time } from "./Time";
import "./controls.css";
import "./AskBlock.css";

export interface AskBlockProps {
  readonly message: Message;
  readonly ask: Ask;
  readonly channelId: ChannelId;
}

export const AskBlock: Component<AskBlockProps> = (props) => {
  const store = useContext(StoreContext);
  const staged = createMemo(() => store.staged().get(props.ask.id));
  const look = () => lookOf(props.ask, staged());
  const closed = () => isClosed(props.ask, staged());
  let block: HTMLElement | undefined;
  // What had the focus goes or is disabled when the ask closes, and the focus with it: the block itself takes it.
  createEffect(
    () => ({ isClosed: closed(), held: block?.contains(document.activeElement) === true }),
    ({ isClosed, held }) => {
      const at = document.activeElement;
      if (isClosed && held && (at === document.body || block?.contains(at))) block?.focus({ preventScroll: true });
    },
  );
  /** A pick that settles its question disables the button under the focus; the next question takes it. */
  const pick = (block: HTMLElement, index: number, optionId: string) => {
    const question = props.ask.questions[index];
    if (!question || closed() || isLocked(question, staged())) return;
    store.asks.pick(props.message.id, props.ask.id, question.id, optionId);
    if (!question.multiple) focusAfter(block, index);
  };
  const clear = (index: number) => {
    const question = props.ask.questions[index];
    if (!block || !question) return;
    store.asks.clear(props.message.id, props.ask.id, question.id);
    focusQuestion(block, index);
  };
  const pickByKey = (event: KeyboardEvent & { readonly currentTarget: HTMLElement }) => {
    const option = digitIndex(event.key);
    if (option === undefined || event.repeat || event.ctrlKey || event.metaKey || event.altKey || takesText(event.target)) return;
    const index = questionAt(event.currentTarget, event.target) ?? firstUnsettled();
    const id = props.ask.questions[index]?.options[option]?.id;
    if (id === undefined || closed()) return;
    event.preventDefault();
    pick(event.currentTarget, index, id);
  };
  const firstUnsettled = () => {
    const index = props.ask.questions.findIndex((question) => !isLocked(question, staged()));
    return Math.max(index, 0);
  };

  return (
    <div
      ref={(element) => (block = element)}
      class={["block-ask", { answered: look() === "answered" || look() === "sending", cancelled: look() === "cancelled" }]}
      role="group"
      aria-label={askText.open}
      tabindex="-1"
      data-ask={props.ask.id}
      onKeyDown={pickByKey}
    >
      <AskTop {...props} look={look()} />
      <For each={props.ask.questions} keyed={false}>
        {(question, index) => (
          <AskQuestion
            question={question()}
            answer={shownAnswer(props.ask, question(), staged())}
            closed={closed()}
            settled={isLocked(question(), staged())}
            answered={look() === "answered"}
            onPick={(optionId) => block && pick(block, index, optionId)}
            onClear={() => clear(index)}
            onText={(text) => store.asks.type(props.message.id, props.ask.id, question().id, text)}
          />
        )}
      </For>
      <Show when={!closed()}>
        <SubmitRow {...props} />
      </Show>
      <AskEnd {...props} sending={look() === "sending"} error={staged()?.error} />
    </div>
  );
};

const AskTop: Component<AskBlockProps & { readonly look: ReturnType<typeof lookOf> }> = (props) => {
  const word = () => (props.look === "answered" ? askText.answered : props.look === "cancelled" ? askText.cancelled : askText.open);
  return (
    <div class="ask-top">
      <span class={["ask-state", props.look]}>{word()}</span>
      <CopyLink path={messagePath(props.channelId, props.message.topicId, props.message.id)} label={askText.copyLink} />
    </div>
  );
};

const SubmitRow: Component<AskBlockProps> = (props) => {
  const store = useContext(StoreContext);
  const note = createUniqueId();
  const staged = createMemo(() => store.staged().get(props.ask.id));
  const skipped = () => props.ask.questions.length - answeredCount(props.ask, staged());
  const nothing = () => skipped() === props.ask.questions.length;
  const tooMuch = () => answersProblem(props.ask, staged());
  const tooLong = () => props.ask.questions.some((question) => textProblem(shownAnswer(props.ask, question, staged())) !== undefined);
  return (
    <div class="ask-submit-row">
      <Button
        type="button"
        class="ask-submit primary"
        title={askText.submitTooltip}
        aria-describedby={note}
        disabled={nothing() || tooLong() || tooMuch() !== undefined}
        onClick={() => store.asks.submit(props.message.id, props.ask.id)}
      >
        {skipped() === 0 || nothing() ? askText.submit : askText.submitPartial(skipped())}
      </Button>
      <span id={note} class="ask-note">
        {tooMuch() ?? askText.submitTooltip}
      </span>
    </div>
  );
};

const AskEnd: Component<AskBlockProps & { readonly sending: boolean; readonly error: string | undefined }> = (props) => {
  const store = useContext(StoreContext);
  const answered = createMemo(() => (props.ask.end.kind === "answered" ? props.ask.end : undefined));
  const cancelled = createMemo(() => (props.ask.end.kind === "cancelled" ? props.ask.end : undefined));
  return (
    <>
      <Switch>
        <Match when={cancelled()}>
          {(end) => (
            <>
              <div class="ask-withdrawn" role="status">
                {askText.withdrawn}
              </div>
              <p class="ask-closed">
                {askText.closedWithdrawn} <AccountName id={props.message.authorId} />, <Time at={end().at} day />
              </p>
            </>
          )}
        </Match>
        <Match when={answered()}>
          {(end) => (
            <p class="ask-closed">
              {askText.closedAnswered} <AccountName id={end().by} />, <Time at={end().at} day />
            </p>
          )}
        </Match>
        <Match when={props.sending}>
          <p class="ask-sending" role="status">
            {askText.sending}
          </p>
        </Match>
      </Switch>
      <Show when={props.ask.end.kind !== "open"}>
        <AskUnsent ask={props.ask} />
      </Show>
      {/* A refusal caused by the withdrawal is not an error of the person's. */}
      <Show when={cancelled() === undefined && !store.unsent().has(props.ask.id) && props.error}>
        {(error) => (
          <span class="ask-error" role="alert" dir="auto">
            {visible(error())}
          </span>
        )}
      </Show>
    </>
  );
};

/** The index of the question that holds `target`, or undefined. */
function questionAt(block: HTMLElement, target: EventTarget | null): number | undefined {
  const questions = [...block.querySelectorAll<HTMLElement>(".ask-question")];
  const index = questions.findIndex((question) => target instanceof Node && question.contains(target));
  return index < 0 ? undefined : index;
}

/** Never to the submit button: a key that is held down must not send what it picked. */
function focusAfter(block: HTMLElement, index: number): void {
  if (block.contains(document.activeElement)) focusQuestion(block, index + 1);
}

function focusQuestion(block: HTMLElement, index: number): void {
  const target = block.querySelectorAll<HTMLElement>(".ask-question")[index] ?? block;
  target.focus({ preventScroll: true });
  // Not further than needed: a key must not answer what is out of sight.
  target.scrollIntoView({ block: "nearest" });
}
