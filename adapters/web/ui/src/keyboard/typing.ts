/** What a person types is not taken for shortcuts when the page takes the field away: the rest of the sentence does nothing. */
import { takesText } from "./roving";
import { hasModifier } from "./chord";

/** Keys that follow one another within this time are of one sentence, in ms. */
export const PAUSE_MS = 1_000;

/** Watches until the returned function is called. */
export const watchTyping = (): (() => void) => {
  /** When the last key of the sentence was pressed or its field was lost; undefined once the person did something else. */
  let last: number | undefined;
  const end = () => {
    last = undefined;
  };
  const inField = (event: KeyboardEvent) => {
    if (leavesField(event)) end();
    else if (isTyping(event)) last = event.timeStamp;
  };
  const outside = (event: KeyboardEvent) => {
    if (last === undefined) return;
    const isPaused = isTyping(event) && event.timeStamp - last > PAUSE_MS;
    if (isPaused || isDeliberate(event)) end();
    else if (isTyping(event)) {
      last = event.timeStamp;
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  };
  const press = (event: KeyboardEvent) => (takesText(event.target) ? inField(event) : outside(event));
  // Nobody sees at once that the focus has gone, not even whoever paused before.
  const enter = (event: FocusEvent) => {
    if (last !== undefined && !takesText(event.target)) last = event.timeStamp;
  };
  window.addEventListener("keydown", press, { capture: true });
  document.addEventListener("focusin", enter);
  for (const act of ACTS) document.addEventListener(act, end, { capture: true });
  return () => {
    window.removeEventListener("keydown", press, { capture: true });
    document.removeEventListener("focusin", enter);
    for (const act of ACTS) document.removeEventListener(act, end, { capture: true });
  };
};

const ACTS = ["pointerdown", "click"] as const;

/** Keys that write or move in a text. */
const WRITING = /^(?:.|Enter|Backspace|Delete|Dead|Process|Home|End|Arrow\w+|Page\w+)$/su;

const isTyping = (event: KeyboardEvent): boolean => !hasModifier(event) && WRITING.test(event.key);

/** Enter ends what is written in a field of one line; in one of several, one goes on with the next message. */
const leavesField = ({ key, target, isComposing }: KeyboardEvent): boolean =>
  key === "Tab" || key === "Escape" || (key === "Enter" && !isComposing && target instanceof HTMLInputElement);

/** Nobody presses these while writing. Alt is not among the modifiers: with it some keyboards write characters. */
const isDeliberate = ({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean =>
  key === "Tab" || key === "Escape" || ((ctrlKey || metaKey) && !altKey && key.length === 1);
