/** What browsing and making channels says. */
import { counted } from "./plural";

export const browseText = {
  help: "Channels that you see and take no part in.",
  none: "There is no channel here that you could join.",
  newChannel: "New channel",
  newGroup: "New group",
  newDirect: "New direct message",
  name: "Name",
  group: "Group",
  noGroup: "No group: only members see it",
  members: "Members, by handle, separated by spaces",
  theMembers: "Members",
  create: "Create",
  creating: "Creating…",
  shared: "Everybody sees the channels of this group",
  privateGroup: "Only you and your agents see it",
  visibility: "Who sees it",
  with: "With whom",
  open: "Open",
  opening: "Opening…",
  openNamed: (handle: string) => `Open the conversation with ${handle}`,
  nobody: "There is nobody else yet.",
  more: "More to do here",
  joinNamed: (name: string) => `Join ${name}`,
  groupMade: (name: string) => `The group ${name} was created.`,
  memberCount: (count: number) => counted(count, "member", "members"),
} as const;
