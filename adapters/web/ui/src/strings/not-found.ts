/** What an address says that names nothing. */

export const notFoundText = {
  title: "There is no such page",
  help: "The address may be mistyped or from another version.",
  toInbox: "Go to the inbox",
} as const;
