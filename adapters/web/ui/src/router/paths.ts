/** The page's addresses, made in one place. Ids are escaped; no address starts with the host. */
import type { AccountId, ChannelId, MessageId, TopicId } from "../model/types";

const part = encodeURIComponent;

export const inboxPath = "/";
export const channelPath = (channel: ChannelId): string => `/channel/${part(channel)}`;
export const topicPath = (channel: ChannelId, topic: TopicId): string => `${channelPath(channel)}/topic/${part(topic)}`;
export const messagePath = (channel: ChannelId, topic: TopicId, message: MessageId): string =>
  `${topicPath(channel, topic)}/message/${part(message)}`;
export const agentPath = (agent: AccountId): string => `/agent/${part(agent)}`;
export const browsePath = "/browse";
export const newChannelPath = "/browse/new-channel";
export const newGroupPath = "/browse/new-group";
export const newDirectPath = "/browse/new-message";
export const helpPath = "/help";
export const signInPath = "/sign-in";
export const searchPath = (query: string): string => `/search?q=${part(query)}`;
export const settingsPath = (section: string): string => `/settings/${part(section)}`;
