/** What is said of a name or a handle that the server would refuse. */

export const namedText = {
  theName: "The name",
  theHandle: "The handle",
  channelThere: (name: string, group: string | undefined) => `There is a channel “${name}” already, ${group === undefined ? "without a group" : `in the group “${group}”`}.`,
  reserved: (handle: string) => `The handle ${handle} is reserved.`,
  notInHandles: (place: number) =>
    place === 1
      ? "The handle starts with a character that cannot be there: a lower-case letter or digit comes first."
      : `The handle holds a character that cannot be in it, at place ${place}: lower-case letters, digits, dots, underscores and hyphens can.`,
} as const;
