/** A field of something that others change as well: the server's value until a person edits it, then theirs until it is sent or put away. */
import { createMemo, createSignal } from "solid-js";

export interface Edited<T> {
  readonly value: () => T;
  edit(value: T): void;
  /** Called when what stands here is sent; call the result once the server kept it, and the field follows the server again. */
  sending(): () => void;
}

interface Edit<T> {
  readonly value: T;
  /** It was kept: it stands until the server says something else than this, so that what was before is not shown in between. */
  readonly keptAfter?: { readonly server: T };
}

export const createEdited = <T>(server: () => T): Edited<T> => {
  const theirs = createMemo(server);
  const [edit, setEdit] = createSignal<Edit<T> | undefined>((before) => {
    const now = theirs();
    return before?.keptAfter && before.keptAfter.server !== now ? undefined : before;
  });
  return {
    value: () => {
      const own = edit();
      return own ? own.value : theirs();
    },
    edit: (value) => setEdit({ value }),
    sending: () => {
      const [sent, before] = [edit(), theirs()];
      return () => setEdit((now) => (now === undefined || now !== sent ? now : theirs() === before ? { ...now, keptAfter: { server: before } } : undefined));
    },
  };
};
