/** What is said of the page and of new asks where the person looks: title, live region, desktop. */
import { counted } from "./plural";

export const toldText = {
  titled: (view: string) => `${view} · Compass`,
  titleCounts: (waiting: number, unread: number): string => {
    if (waiting === 0 && unread === 0) return "";
    const asks = waiting > 0 ? counted(waiting, "ask", "asks") : "";
    return `(${[asks, unread > 0 ? `${unread} unread` : ""].filter((part) => part !== "").join(", ")}) `;
  },
  unable: "This browser cannot show notifications of a page. New asks are told by sound, if you want that.",
  newAsk: (handle: string, channel: string) => `New ask from ${handle} in ${channel}`,
  askAnswered: (handle: string, channel: string) => `Answered: ask from ${handle} in ${channel}`,
  askWithdrawn: (handle: string, channel: string) => `Withdrawn: ask from ${handle} in ${channel}`,
} as const;
