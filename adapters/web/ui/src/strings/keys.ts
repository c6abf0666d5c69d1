/** What keys do. */

export const keyText = {
  inbox: "Go to the inbox",
  browse: "Browse channels",
  settings: "Go to settings",
  search: "Search",
  help: "This help",
  leave: "Close what is open, leave a field",
} as const;
