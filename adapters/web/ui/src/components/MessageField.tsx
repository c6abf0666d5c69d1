/** A field of several lines in which Enter sends and `@` offers whom to mention. */
import { createMemo, createSignal, createUniqueId, flush, For, Show, useContext } from "solid-js";
import type { Component } from "solid-js";
import { visibleLine } from "../model/text";
import type { Channel } from "../model/types";
import { StoreContext } from "../store/context";
import { composerText } from "../strings";
import { inserted, suggestions, typingAt } from "./mention-completion";
import type { Typing } from "./mention-completion";
import "./MessageField.css";

export interface MessageFieldProps {
  readonly label: string;
  readonly placeholder: string;
  readonly channel: Channel;
  readonly value: string;
  /** Nothing can be written. It can be come to and read nevertheless: a disabled field would lose the focus, and what stands in it. */
  readonly locked: boolean;
  readonly invalid: boolean;
  /** Id of what says why it is locked or not sent. */
  readonly describedBy: string;
  readonly onInput: (text: string) => void;
  readonly onSend: () => void;
}

export const MessageField: Component<MessageFieldProps> = (props) => {
  const store = useContext(StoreContext);
  const list = createUniqueId();
  const [typing, setTyping] = createSignal<Typing | undefined>(undefined);
  const [chosen, setChosen] = createSignal(0);
  const offered = createMemo(() => {
    const current = typing();
    if (!current || props.locked) return [];
    const { accounts } = store.state();
    const members = props.channel.memberIds.flatMap((id) => accounts.get(id) ?? []);
    return suggestions(members, current.query);
  });
  const optionId = (index: number) => `${list}-${index}`;

  let field: HTMLTextAreaElement | undefined;
  const look = (element: HTMLTextAreaElement) => {
    const found = element.selectionStart === element.selectionEnd ? typingAt(element.value, element.selectionStart) : undefined;
    setTyping(found);
    setChosen(0);
  };
  const insert = (index: number) => {
    const current = typing();
    const suggestion = offered()[index];
    if (!field || !current || !suggestion) return;
    const done = inserted(field.value, current, field.selectionStart, suggestion.handle);
    props.onInput(done.text);
    setTyping(undefined);
    flush();
    field.focus();
    field.setSelectionRange(done.caret, done.caret);
  };
  /** True if the key was for the list. */
  const listKey = (key: string): boolean => {
    const count = offered().length;
    if (count === 0) return false;
    switch (key) {
      case "ArrowDown":
        setChosen((chosen() + 1) % count);
        return true;
      case "ArrowUp":
        setChosen((chosen() + count - 1) % count);
        return true;
      case "Enter":
      case "Tab":
        insert(chosen());
        return true;
      case "Escape":
        setTyping(undefined);
        return true;
      default:
        return false;
    }
  };
  const keyDown = (event: KeyboardEvent) => {
    // While a script is being composed, Enter picks a candidate of the input method.
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!event.shiftKey && listKey(event.key)) {
      event.preventDefault();
    } else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      if (!event.repeat) props.onSend();
    }
  };
  return (
    <div class="message-field">
      <Show when={offered().length > 0}>
        <ul id={list} class="mention-list" role="listbox" aria-label={composerText.mentions}>
          <For each={offered()}>
            {(suggestion, index) => (
              <li
                id={optionId(index())}
                role="option"
                aria-selected={index() === chosen() ? "true" : "false"}
                onMouseDown={(event) => {
                  event.preventDefault();
                  insert(index());
                }}
              >
                <bdi class="mention-handle">@{visibleLine(suggestion.handle)}</bdi> <bdi class="mention-about">{visibleLine(suggestion.about)}</bdi>
              </li>
            )}
          </For>
        </ul>
      </Show>
      <textarea
        ref={(element) => (field = element)}
        rows="1"
        dir="auto"
        aria-label={props.label}
        aria-describedby={props.describedBy}
        aria-invalid={props.invalid ? "true" : "false"}
        aria-autocomplete="list"
        aria-haspopup="listbox"
        aria-controls={offered().length > 0 ? list : undefined}
        aria-activedescendant={offered().length > 0 ? optionId(chosen()) : undefined}
        placeholder={props.placeholder}
        readonly={props.locked}
        value={props.value}
        onBeforeInput={(event) => holdHeight(event.currentTarget)}
        onInput={(event) => {
          props.onInput(event.currentTarget.value);
          look(event.currentTarget);
        }}
        onClick={(event) => look(event.currentTarget)}
        onKeyDown={keyDown}
        onBlur={() => setTyping(undefined)}
      />
      <span class="visually-hidden" role="status">
        {composerText.suggestions(offered().length)}
      </span>
    </div>
  );
};

/** A paste takes out what is selected before it puts in its own: lower meanwhile, the field would let the browser scroll what is above it. */
function holdHeight(field: HTMLElement): void {
  field.style.minBlockSize = `${field.getBoundingClientRect().height}px`;
  requestAnimationFrame(() => {
    field.style.minBlockSize = "";
  });
}
