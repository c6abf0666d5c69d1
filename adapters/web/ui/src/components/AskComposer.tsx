/** Where a person writes an ask. It says first that an ask cannot be taken back. */
import { createMemo, createSignal, createUniqueId, flush, For, onSettled, Show, untrack, useContext } from "solid-js";
import type { Component } from "solid-js";
import { focusLate, keepFocus } from "../keyboard/keep-focus";
import { LIMITS } from "../model/limits";
import { visible } from "../model/text";
import type { Channel, TopicId } from "../model/types";
import { edited, formOf, keptForm, newOption, newQuestion, removeOption } from "../store/ask-form";
import type { AskForm, OptionForm, QuestionForm } from "../store/ask-form";
import { StoreContext } from "../store/context";
import { askDraft } from "../store/drafts";
import { askComposerText as words, composerText } from "../strings";
import { problemsOf } from "./ask-draft";
import { Button } from "./Button";
import { postingRefused } from "./posting";
import { Sure } from "./Sure";
import "./controls.css";
import "./AskComposer.css";

export interface AskComposerProps {
  readonly channel: Channel;
  readonly topicId: TopicId;
  /** What opened it has the focus again afterwards. */
  readonly opener: () => HTMLElement | undefined;
  /** The person asked for it just now: they go on in its first field. */
  readonly isWanted: () => boolean;
  /** It was sent, or given up. */
  readonly onDone: () => void;
}

const AskComposer: Component<AskComposerProps> = (props) => {
  const store = useContext(StoreContext);
  const { outbox, drafts } = store;
  const topicId = untrack(() => props.topicId);
  const draft = askDraft(topicId);
  const form = createMemo(() => formOf(drafts.read(draft)));
  const edit = (change: (form: AskForm) => void) => drafts.write(draft, keptForm(edited(formOf(drafts.read(draft)), change)));
  const [isTried, setTried] = createSignal(false);
  const problems = createMemo(() => problemsOf(form()));
  const shown = () => problems().filter((problem) => isTried() || problem.kind === "limit");
  const refused = () => postingRefused(store.state(), props.channel);
  const error = () => {
    const reason = outbox.refusal(draft);
    return reason === undefined ? undefined : composerText.failed(visible(reason));
  };
  const editQuestion = (index: number, change: (question: QuestionForm) => void) =>
    edit((draft) => {
      const question = draft.questions[index];
      if (question) change(question);
    });
  let adder: HTMLElement | undefined;
  let section: HTMLElement | undefined;
  onSettled(() => {
    const [field, opener] = [section?.querySelector("textarea"), props.opener()];
    if (field && opener && props.isWanted()) focusLate(field, opener);
  });
  const addQuestion = () => {
    edit((draft) => {
      draft.questions.push(newQuestion());
    });
    focusNew(section, ".ask-composer-question");
  };
  const end = () => {
    drafts.write(draft, "");
    props.onDone();
  };
  const post = () => {
    setTried(true);
    const text = drafts.read(draft);
    if (problemsOf(formOf(text)).length > 0 || refused() !== undefined) return;
    outbox.send({ kind: "ask", channelId: props.channel.id, topicId, text });
    end();
  };
  const [sure, setSure] = createSignal(false);
  const isBegun = () => drafts.read(draft) !== "";
  const discard = () => {
    outbox.dismissRefusal(draft);
    end();
  };
  return (
    <section class="ask-composer" aria-label={words.title} ref={[keepFocus({ or: () => props.opener() }), (element) => (section = element)]}>
      <h2>{words.title}</h2>
      <p class="ask-composer-warning">{words.cannotWithdraw}</p>
      <div class="ask-composer-fields" ref={keepFocus({ among: ".ask-composer-remove", or: () => adder })}>
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
          onClick={addQuestion}
        >
          {words.addQuestion(form().questions.length, LIMITS.questions)}
        </Button>
      </div>
      {/* In view wherever one is in a long form: what posts it, and why it is not posted. */}
      <div class="ask-composer-end">
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
          <Button type="button" class="primary" disabled={refused() !== undefined} onClick={post}>
            {words.post}
          </Button>
          <button type="button" class="quiet" onClick={() => (isBegun() ? setSure(true) : discard())}>
            {words.cancel}
          </button>
        </div>
        <Show when={sure() && isBegun()}>
          <Sure question={words.cancelSure} yes={words.cancel} onYes={discard} onNo={() => setSure(false)} />
        </Show>
      </div>
    </section>
  );
};
export default AskComposer;

/** What was added stands last; one goes on in its first field. */
const focusNew = (within: HTMLElement | undefined, selector: string): void => {
  flush();
  const added = [...(within?.querySelectorAll(selector) ?? [])].at(-1);
  added?.querySelector<HTMLElement>("input, textarea")?.focus();
};

interface QuestionFieldsProps {
  readonly question: QuestionForm;
  readonly n: number;
  readonly isOnly: boolean;
  readonly edit: (change: (question: QuestionForm) => void) => void;
  readonly remove: () => void;
}

const QuestionFields: Component<QuestionFieldsProps> = (props) => {
  let adder: HTMLElement | undefined;
  let fields: HTMLElement | undefined;
  const addOption = () => {
    props.edit((draft) => void draft.options.push(newOption()));
    focusNew(fields, ".ask-composer-option");
  };
  return (
    <fieldset class="ask-composer-question" ref={[keepFocus({ among: ".ask-composer-remove-option", or: () => adder }), (element) => (fields = element)]}>
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
        <Button type="button" class="quiet" ref={(element) => (adder = element)} disabled={props.question.options.length >= LIMITS.options} onClick={addOption}>
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
