/** What went wrong in the background, as a person is told. */
import { Failure } from "../model/client";
import { errorText } from "../model/text";
import { problemText } from "../strings";

/** How many are shown; the oldest goes first. */
export const SHOWN_PROBLEMS = 5;

export interface Problem {
  readonly id: number;
  readonly text: string;
}

/** What goes on by itself: the connection's own line says for how long it does not. */
const GOES_ON: ReadonlySet<string> = new Set(["stream", "version", "read"]);
const isShownElsewhere = (where: string, error: unknown): boolean =>
  GOES_ON.has(where) && error instanceof Failure && (error.kind === "unavailable" || error.kind === "signed_out" || error.kind === "aborted");

/** A block and a composer show their own. */
const SHOWN_IN_PLACE: ReadonlySet<string> = new Set(["ask", "post", "messages", "stop"]);

export class Problems {
  private list: readonly Problem[] = [];
  private made = 0;

  constructor(private readonly publish: (list: readonly Problem[]) => void) {}

  add(where: string, error: unknown): void {
    if (SHOWN_IN_PLACE.has(where) || isShownElsewhere(where, error)) return;
    this.note(problemText(where, errorText(error)));
  }

  /** Tells something that is no failure of a call. */
  note(text: string): void {
    if (this.list.some((problem) => problem.text === text)) return;
    this.made += 1;
    this.put([...this.list, { id: this.made, text }].slice(-SHOWN_PROBLEMS));
  }

  dismiss(id: number): void {
    this.put(this.list.filter((problem) => problem.id !== id));
  }

  private put(list: readonly Problem[]): void {
    this.list = list;
    this.publish(list);
  }
}
