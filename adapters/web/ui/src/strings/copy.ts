/** What taking a text along says. */

export const copyText = {
  copied: "Copied",
  failed: "The browser refused to copy; select the text instead.",
} as const;

/** The same for an address of the page. */
export const copyLinkText = {
  copied: "Link copied",
  failed: "The browser refused to copy. Here is the link:",
  field: "Link",
} as const;
