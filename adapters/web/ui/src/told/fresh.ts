/** Which asks are new since the person was last told. Pure. */
import { inbox } from "../model/select";
import type { Waiting } from "../model/select";
import type { AskId } from "../model/types";
import type { State } from "../store/contract";

export interface Told {
  /** Everything that was open at some time since the page was loaded; undefined before the first snapshot. */
  readonly known: ReadonlySet<AskId> | undefined;
  readonly fresh: readonly Waiting[];
}

/** What was open in the first snapshot is no news, and neither is what a new snapshot brings again. */
export const tell = (known: ReadonlySet<AskId> | undefined, state: State): Told => {
  if (!state.ready) return { known, fresh: [] };
  const open = inbox(state);
  const all = new Set(known);
  for (const each of open) all.add(each.ask.id);
  return { known: all, fresh: known === undefined ? [] : open.filter((each) => !known.has(each.ask.id)) };
};
