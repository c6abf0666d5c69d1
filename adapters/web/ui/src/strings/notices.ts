/** Why somebody is somewhere else than the address said. */

/** `name` is that of the channel that was left, or "". */
export const noticeText = {
  no_channel: () => "That channel does not exist, or you cannot see it.",
  left_channel: (name: string) => `You are no longer in “${name}”.`,
  not_in_channel: () => "You do not take part in this channel, so its topics are not shown.",
  no_topic: () => "That topic does not exist in this channel.",
  topic_moved: () => "That topic was merged into this one.",
  no_agent: () => "That agent does not exist, or you cannot see it.",
} as const;
