/** Where a person writes an ask. It says first that an ask cannot be taken back. */
import { createMemo, createSignal, createUniqueId, For, Show, untrack, useContext } from "solid-js";
import type { Component } from "solid-js";
import { keepFocus } from "../keyboard/keep-focus";
import { LIMITS } from "../model/limits";
import { isUncertain } from "../model/client";
import type { Channel, TopicId } from "../model/types";
import { StoreContext } from "../store/context";
import { askDraft } from "../store/written";
import { askComposerText as words } from "../strings";
import { edited, formOf, keptForm, newOption, newQuestion, problemsOf, removeOption, toAsk } from "./ask-draft";
import type { AskForm, OptionForm, QuestionForm } from "./ask-draft";
import { createAgain } from "./again";
import { Button } from "./Button";
import { sendingFailed } from "./failure";
import { postingRefused } from "./posting";
import "./controls.css";
import "./AskComposer.css";

export interface AskComposerProps {
  readonly channel: Channel;
  readonly topicId: TopicId;
  /** What opened it has the focus again afterwards. */
  readonly opener: () => HTMLElement | undefined;
  /** It was posted, or given up. */
  readonly onDone: () => void;
}

const AskComposer: Component<AskComposerProps> = (props) => {
  const store = useContext(StoreContext);
  const { written } = store.outbox;
  const topicId = untrack(() => props.topicId);
  const draft = askDraft(topicId);
  const form = createMemo(() => formOf(written.read(draft)));
  const edit = (change: (form: AskForm) => void) => written.write(draft, keptForm(edited(formOf(store.draft(draft)), change)));
  const [isTried, setTried] = createSignal(false);
  const [isPosting, setPosting] = createSignal(false);
  const [error, setError] = createSignal<string | undefined>(undefined);
  const problems = createMemo(() => problemsOf(form()));
  const shown = () => problems().filter((problem) => isTried() || problem.kind === "limit");
  const refused = () => postingRefused(store.state(), props.channel);
  const editQuestion = (index: number, change: (question: QuestionForm) => void) =>
    edit((draft) => {
      const question = draft.questions[index];
      if (question) change(question);
    });
  /** What was sent and may have been kept. */
  const [unknown, setUnknown] = createSignal<string | undefined>(undefined);
  let isOnItsWay = false;
  let adder: HTMLElement | undefined;
  const post = async () => {
    setTried(true);
    if (problems().length > 0 || isOnItsWay || refused() !== undefined) return;
    const [sent, ask] = [store.draft(draft), toAsk(form())];
    isOnItsWay = true;
    try {
      await store.post(props.channel.id, { kind: "id", id: topicId }, [{ kind: "ask", ask }], written.postKey(draft));
      setError(undefined);
      setUnknown(undefined);
      // Meanwhile something else may have been begun.
      if (store.draft(draft) !== sent) return;
      written.write(draft, "");
      props.onDone();
    } catch (failure) {
      setError(sendingFailed(failure));
      setUnknown(isUncertain(failure) ? sent : undefined);
    } finally {
      isOnItsWay = false;
    }
  };
  const begin = async () => {
    if (isPosting()) return;
    setError(undefined);
    setPosting(true);
    await post();
    setPosting(false);
  };
  // The fields stay as they are then: the person may be in one of them.
  createAgain(() => unknown() === written.read(draft), post);
  const discard = () => {
    if (isPosting()) return;
    written.write(draft, "");
    props.onDone();
  };
  return (
    <section class="ask-composer" aria-label={words.title} ref={keepFocus({ or: () => props.opener() })}>
      <h2>{words.title}</h2>
      <p class="ask-composer-warning">{words.cannotWithdraw}</p>
      {/* What is on its way is what is shown: an edit meanwhile would be lost. */}
      <fieldset class="ask-composer-fields" disabled={isPosting()} ref={keepFocus({ among: ".ask-composer-remove", or: () => adder })}>
      <For each={form().questions} keyed={false}>
        {(question, index) => (
          <QuestionFields
            question={question()}
            n={index + 1}
            isOnly={form().questions.length === 1}
            edit={(change) => editQuestion(index, change)}
            remove={() =>
              edit((draft) => {
                draft.questions.splice(index, 1);
              })
            }
          />
        )}
      </For>
      <Button
        type="button"
        class="quiet"
        ref={(element) => (adder = element)}
        disabled={form().questions.length >= LIMITS.questions}
        onClick={() =>
          edit((draft) => {
            draft.questions.push(newQuestion());
          })
        }
      >
        {words.addQuestion(form().questions.length, LIMITS.questions)}
      </Button>
      </fieldset>
      <Show when={shown().length > 0}>
        <ul class="ask-composer-problems" role="alert">
          <For each={shown()}>{(problem) => <li>{problem.text}</li>}</For>
        </ul>
      </Show>
      <Show when={refused() ?? error()}>
        {(text) => (
          <p class="ask-composer-problems" role="alert" dir="auto">
            {text()}
          </p>
        )}
      </Show>
      <div class="ask-composer-actions">
        <Button
          type="button"
          class="primary"
          busy={isPosting()}
          disabled={refused() !== undefined}
          onClick={() => void begin()}
        >
          {isPosting() ? words.posting : words.post}
        </Button>
        <Button type="button" class="quiet" busy={isPosting()} onClick={discard}>
          {words.cancel}
        </Button>
      </div>
    </section>
  );
};
export default AskComposer;

interface QuestionFieldsProps {
  readonly question: QuestionForm;
  readonly n: number;
  readonly isOnly: boolean;
  readonly edit: (change: (question: QuestionForm) => void) => void;
  readonly remove: () => void;
}

const QuestionFields: Component<QuestionFieldsProps> = (props) => {
  let adder: HTMLElement | undefined;
  return (
    <fieldset class="ask-composer-question" ref={keepFocus({ among: ".ask-composer-remove-option", or: () => adder })}>
      <legend>{words.question(props.n)}</legend>
      <TextField label={words.questionField} value={props.question.question} lines={2} onInput={(text) => props.edit((draft) => void (draft.question = text))} />
      <TextField label={words.header} value={props.question.header} onInput={(text) => props.edit((draft) => void (draft.header = text))} />
      <Show when={props.question.options.length > 0} fallback={<p class="ask-composer-note">{words.noOptions}</p>}>
        <For each={props.question.options} keyed={false}>
          {(option, index) => <OptionFields {...props} option={option()} index={index} />}
        </For>
        <Show when={props.question.recommended !== undefined}>
          <button type="button" class="quiet" ref={keepFocus({ or: () => adder })} onClick={() => props.edit((draft) => void (draft.recommended = undefined))}>
            {words.noneRecommended}
          </button>
        </Show>
        <label class="ask-composer-check">
          <input
            type="checkbox"
            checked={props.question.multiple}
            onChange={(event) => {
              const { checked } = event.currentTarget;
              props.edit((draft) => void (draft.multiple = checked));
            }}
          />
          {words.multiple}
        </label>
      </Show>
      <div class="ask-composer-actions">
        <Button type="button" class="quiet" ref={(element) => (adder = element)} disabled={props.question.options.length >= LIMITS.options} onClick={() => props.edit((draft) => void draft.options.push(newOption()))}>
          {words.addOption(props.question.options.length, LIMITS.options)}
        </Button>
        <Show when={!props.isOnly}>
          <button type="button" class="quiet ask-composer-remove" onClick={() => props.remove()}>
            {words.removeQuestion(props.n)}
          </button>
        </Show>
      </div>
    </fieldset>
  );
};

const OptionFields: Component<QuestionFieldsProps & { readonly option: OptionForm; readonly index: number }> = (props) => {
  const change = (edit: (option: OptionForm) => void) =>
    props.edit((draft) => {
      const option = draft.options[props.index];
      if (option) edit(option);
    });
  return (
    <fieldset class="ask-composer-option">
      <legend>{words.option(props.index + 1)}</legend>
      <TextField label={words.label} value={props.option.label} onInput={(text) => change((option) => void (option.label = text))} />
      <TextField label={words.description} value={props.option.description} onInput={(text) => change((option) => void (option.description = text))} />
      <TextField label={words.preview} value={props.option.preview} lines={2} onInput={(text) => change((option) => void (option.preview = text))} />
      <div class="ask-composer-actions">
        <label class="ask-composer-check">
          <input
            type="radio"
            name={`recommended-${props.n}`}
            checked={props.question.recommended === props.index}
            onChange={() => props.edit((draft) => void (draft.recommended = props.index))}
          />
          {words.recommended}
        </label>
        <button type="button" class="quiet ask-composer-remove-option" aria-label={words.removeOption(props.n, props.index + 1)} onClick={() => props.edit((draft) => removeOption(draft, props.index))}>
          {words.remove}
        </button>
      </div>
    </fieldset>
  );
};

const TextField: Component<{ readonly label: string; readonly value: string; readonly lines?: number; readonly onInput: (text: string) => void }> = (props) => {
  const id = createUniqueId();
  return (
    <div class="ask-composer-field">
      <label for={id}>{props.label}</label>
      <Show when={props.lines} fallback={<input id={id} type="text" dir="auto" autocomplete="off" value={props.value} onInput={(event) => props.onInput(event.currentTarget.value)} />}>
        {(lines) => <textarea id={id} dir="auto" rows={lines()} value={props.value} onInput={(event) => props.onInput(event.currentTarget.value)} />}
      </Show>
    </div>
  );
};
