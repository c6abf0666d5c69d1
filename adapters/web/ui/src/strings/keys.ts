/** What keys do. */

export const keyText = {
  inbox: "Go to the inbox",
  browse: "Browse channels",
  settings: "Go to settings",
  next: "Next ask",
  previous: "Previous ask",
  nextMessage: "Next message",
  previousMessage: "Previous message",
  search: "Search",
  help: "This help",
  leave: "Close what is open, leave a field",
} as const;
