/** What went wrong where nobody was looking. */
import { visibleLine } from "../model/text";

const doing: Readonly<Record<string, string>> = {
  stream: "Following the conversation",
  version: "Asking the server for its version",
  read: "Noting what you have read",
  storage: "Keeping your drafts in this browser",
  desktop: "Showing a notification",
};

/** One line: what was being done, and what the server or the browser said about it. */
export const problemText = (where: string, said: string): string => `${doing[where] ?? where}: ${visibleLine(said)}`;
