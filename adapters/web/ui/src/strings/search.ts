/** What searching says. */
import { counted } from "./plural";

export const searchText = {
  label: "Search messages",
  placeholder: "Search",
  results: "Search results",
  none: "Nothing found. Only whole words are matched, in their forms: “launch” finds “launched”, “laun” does not.",
  theSearch: "The search",
  searching: "Searching…",
  failed: (reason: string) => `The search failed. ${reason}`,
  found: (count: number) => counted(count, "message found", "messages found"),
  all: "Show all results",
  howTo: 'Whole words in any form, "phrases in quotes", minus to leave out, or. Searches the channels you take part in.',
} as const;
