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
  howTo: 'Finds whole words in any form, in the channels you take part in. "Quotes" keep words together, a minus leaves a word out, "or" takes either.',
} as const;
