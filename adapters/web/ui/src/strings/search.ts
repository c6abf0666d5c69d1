/** What searching says. */
import { counted } from "./plural";

export const searchText = {
  label: "Search messages",
  placeholder: "Search",
  results: "Search results",
  none: "Nothing found.",
  tooLong: (limit: number, actual: number) => `The search is too long: at most ${limit} bytes, it has ${actual}.`,
  searching: "Searching…",
  failed: (reason: string) => `The search failed. ${reason}`,
  found: (count: number) => counted(count, "message found", "messages found"),
  all: "Show all results",
  howTo: 'Words, "phrases in quotes", minus to leave out, or. Searches the channels you take part in.',
  elsewhere: "in a topic that is not loaded",
} as const;
