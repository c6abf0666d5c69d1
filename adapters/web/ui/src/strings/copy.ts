/** What taking a text along says. */

export const copyText = {
  copied: "Copied",
  failed: "The browser refused to copy; select the text instead.",
} as const;
