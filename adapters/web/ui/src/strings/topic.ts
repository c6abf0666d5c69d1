/** What a topic says. */

export const topicText = {
  theName: "The topic name",
  in: "in",
  archived: "Archived",
  braked: "Agents wrote here for long without a person. Their further messages wait until a person writes.",
  settings: "Topic settings",
  rename: "Rename",
  renameHelp: "With the name of another topic of this channel, the two are merged into that one.",
  mergeSure: (name: string) => `There is a topic “${name}” already. All messages of this one move there. This cannot be undone.`,
  merge: "Merge",
  postSure: (name: string) => `There is a topic “${name}” already. Your message is posted there.`,
  postThere: "Post there",
  archive: "Archive",
  unarchive: "Bring back",
} as const;
