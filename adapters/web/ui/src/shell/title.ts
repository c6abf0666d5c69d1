/** What a view is called in the title of the page. Pure. */
import { channelLabel, handleOf } from "../model/select";
import { visibleLine } from "../model/text";
import type { Route } from "../router/route";
import type { State } from "../store/contract";
import { notFoundText, shellText, titleText } from "../strings";

/** `route` is undefined while a link is held. */
export const viewTitle = (route: Route | undefined, state: State): string => {
  if (!route) return shellText.opening;
  switch (route.kind) {
    case "inbox":
      return titleText.inbox;
    case "channel":
      return channelTitle(state, route.channelId);
    case "topic": {
      const topic = state.topics.get(route.topicId);
      return topic ? `${visibleLine(topic.name)} · ${channelTitle(state, route.channelId)}` : channelTitle(state, route.channelId);
    }
    case "agent":
      return visibleLine(handleOf(state, route.agentId));
    case "browse":
      return titleText.browse;
    case "search":
      return route.query === "" ? titleText.search : titleText.searched(visibleLine(route.query));
    case "settings":
      return titleText.settings;
    case "help":
      return titleText.help;
    case "sign_in":
    case "unknown":
      return notFoundText.title;
  }
};

const channelTitle = (state: State, id: string): string => {
  const channel = state.channels.get(id);
  return channel ? visibleLine(channelLabel(state, channel)) : shellText.channels;
};
