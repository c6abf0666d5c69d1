/** The live log of a session: bounded, newest last. Pure. */
import type { SessionEvent, ToolStatus } from "../../model/types";

/** Entries that are kept. */
export const LIMIT = 500;
/** Characters of one text that are kept; its end is what matters. */
export const TEXT_LIMIT = 65_536;

export type Entry =
  | { readonly kind: "text" | "thinking"; readonly id: string; readonly eventId: string; readonly at: number; readonly text: string }
  | { readonly kind: "tool"; readonly id: string; readonly eventId: string; readonly at: number; readonly title: string; readonly status: ToolStatus; readonly output: string; readonly changed: number }
  | { readonly kind: "plan"; readonly id: string; readonly eventId: string; readonly at: number; readonly entries: readonly { readonly content: string; readonly status: ToolStatus }[] }
  | { readonly kind: "notice"; readonly id: string; readonly eventId: string; readonly at: number; readonly text: string };

export interface Log {
  readonly entries: readonly Entry[];
  /** True once older entries were let go. */
  readonly clipped: boolean;
}

export const emptyLog: Log = { entries: [], clipped: false };

/** Pieces of one text and updates of one call change their entry; what comes twice changes nothing. */
export const logged = (log: Log, event: SessionEvent): Log => {
  switch (event.kind) {
    case "text":
    case "thinking":
      return upsert(log, { kind: event.kind, id: `${event.kind}:${event.groupId === "" ? event.id : event.groupId}`, eventId: event.id, at: event.at, text: event.text });
    case "tool_call":
      return upsert(log, { kind: "tool", id: `tool:${event.callId}`, eventId: event.id, at: event.at, title: event.title, status: event.status, output: "", changed: 0 });
    case "tool_update": {
      const id = `tool:${event.callId}`;
      const known = log.entries.find((entry) => entry.id === id);
      const title = known?.kind === "tool" ? known.title : event.callId;
      return upsert(log, { kind: "tool", id, eventId: event.id, at: event.at, title, status: event.status, output: event.output, changed: event.paths.length });
    }
    case "plan":
      return upsert(log, { kind: "plan", id: "plan", eventId: event.id, at: event.at, entries: event.entries });
    case "notice":
      return upsert(log, { kind: "notice", id: `notice:${event.id}`, eventId: event.id, at: event.at, text: event.text });
  }
};

const upsert = (log: Log, entry: Entry): Log => {
  const at = log.entries.findIndex((each) => each.id === entry.id);
  if (at >= 0) return { ...log, entries: log.entries.with(at, joined(log.entries[at], entry)) };
  const entries = [...log.entries, entry];
  return entries.length > LIMIT ? { entries: entries.slice(-LIMIT), clipped: true } : { ...log, entries };
};

/** Pieces of text are put together; an update of a call keeps the title, and the output where it brings none. */
const joined = (before: Entry | undefined, entry: Entry): Entry => {
  if (before?.eventId === entry.eventId) return before;
  if ((entry.kind === "text" || entry.kind === "thinking") && before?.kind === entry.kind) return { ...entry, at: before.at, text: tail(before.text + entry.text) };
  if (entry.kind === "tool" && before?.kind === "tool") return { ...entry, at: before.at, output: entry.output === "" ? before.output : entry.output, changed: before.changed + entry.changed };
  return entry;
};

const tail = (text: string): string => (text.length > TEXT_LIMIT ? text.slice(-TEXT_LIMIT) : text);
