/** What the inbox says. */
import { counted } from "./plural";

export const ageText = {
  now: "just now",
  minute: (count: number) => counted(count, "minute", "minutes") + " ago",
  hour: (count: number) => counted(count, "hour", "hours") + " ago",
  day: (count: number) => counted(count, "day", "days") + " ago",
} as const;

export const inboxText = {
  heading: (count: number) => (count === 0 ? "Inbox" : `Inbox: ${counted(count, "open ask", "open asks")}`),
  order: "Order",
  oldest: "Oldest first",
  newest: "Newest first",
  held: (count: number) => counted(count, "new ask", "new asks"),
  asksWord: "asks",
  offline: "The asker is not connected. It may still be waiting. Your answer is kept for it until it takes it.",
  inTopic: "Show in its topic",
  dismiss: "Dismiss",
  dismissAll: "Dismiss closed asks",
  gone: "This ask is no longer open. How it ended is not known here; its topic shows it.",
  empty: "No open asks",
  emptyHelp: "Nobody waits for you. New asks appear here by themselves.",
} as const;
