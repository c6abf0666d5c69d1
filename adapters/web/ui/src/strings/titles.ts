/** What the views are called. */

export const titleText = {
  inbox: "Inbox",
  browse: "Browse channels",
  search: "Search messages",
  searched: (query: string) => `Search: ${query}`,
  settings: "Settings",
  help: "Help",
} as const;
