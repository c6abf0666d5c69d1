/** Finds the message that an address names, reading older ones until it is there or the search has gone far enough. */
import { createEffect, createSignal } from "solid-js";
import type { MessageId } from "../model/types";
import type { MessageWindow } from "../store/contract";
import { messageText } from "../strings";

/** Pages of older messages that are read for one address. */
const PAGES = 40;

export interface LinkedInput {
  readonly wanted: () => MessageId | undefined;
  readonly loaded: () => MessageWindow;
  readonly older: () => void;
  /** Shows the message; false if it is not among the rows. */
  readonly reveal: (id: MessageId) => boolean;
}

export interface Linked {
  readonly notice: () => string | undefined;
  /** Ends the search too. */
  readonly dismiss: () => void;
  /** The person has gone elsewhere: nothing is looked for any more. */
  readonly leave: () => void;
}

export function createLinked(input: LinkedInput): Linked {
  const [notice, setNotice] = createSignal<string | undefined>(undefined);
  let search: { readonly id: MessageId; pages: number; isOver: boolean } | undefined;

  const step = (id: MessageId, window: MessageWindow) => {
    if (search?.id !== id) search = { id, pages: 0, isOver: false };
    if (search.isOver || window.loading !== "none") return;
    if (window.messages.some((message) => message.id === id) && input.reveal(id)) {
      end(undefined);
    } else if (window.complete || window.error !== undefined || search.pages >= PAGES) {
      end(messageText.linkedMissing);
    } else {
      search.pages += 1;
      setNotice(messageText.linkedSearching);
      input.older();
    }
  };
  const end = (word: string | undefined) => {
    if (search) search.isOver = true;
    setNotice(word);
  };
  createEffect(
    () => ({ id: input.wanted(), window: input.loaded() }),
    ({ id, window }) => {
      if (id !== undefined) step(id, window);
      else if (search) {
        search = undefined;
        setNotice(undefined);
      }
    },
  );
  return {
    notice,
    dismiss: () => end(undefined),
    leave: () => {
      if (search?.isOver === false) end(undefined);
    },
  };
}
