import { describe, expect, it } from "vitest";
import { agentPath, browsePath, channelPath, helpPath, inboxPath, messagePath, newChannelPath, newDirectPath, newGroupPath, searchPath, settingsPath, signInPath, topicPath } from "./paths";
import { parseRoute } from "./route";
import type { Route } from "./route";
import { followed } from "./router";

const parsed = (path: string): Route => {
  const url = new URL(path, "http://page.test");
  return parseRoute(url.pathname, url.search);
};

describe("addresses", () => {
  it("C42 every address the page makes is read as what it was made for, whatever is in the ids", () => {
    const odd = "a/b?c#d %ü⟦";
    const cases: readonly (readonly [string, Route])[] = [
      [inboxPath, { kind: "inbox" }],
      [channelPath(odd), { kind: "channel", channelId: odd }],
      [topicPath("c", odd), { kind: "topic", channelId: "c", topicId: odd, messageId: undefined }],
      [messagePath("c", "t", odd), { kind: "topic", channelId: "c", topicId: "t", messageId: odd }],
      [agentPath(odd), { kind: "agent", agentId: odd }],
      [browsePath, { kind: "browse", form: undefined }],
      [newChannelPath, { kind: "browse", form: "new-channel" }],
      [newGroupPath, { kind: "browse", form: "new-group" }],
      [newDirectPath, { kind: "browse", form: "new-message" }],
      [searchPath(odd), { kind: "search", query: odd }],
      [settingsPath("tokens"), { kind: "settings", section: "tokens" }],
      ["/settings", { kind: "settings", section: "profile" }],
      [helpPath, { kind: "help" }],
      [signInPath, { kind: "sign_in" }],
    ];
    for (const [path, route] of cases) expect(parsed(path), path).toEqual(route);
  });

  it("C42 what names nothing is unknown, and a broken escape does not throw", () => {
    for (const path of ["/channel", "/channel/c/topic", "/channel/c/x/t", "/channel/c/topic/t/message", "/channel/c/topic/t/message/m/more", "/agent", "/settings/other", "/browse/other", "/help/more", "/%E0%A4%A"])
      expect(parseRoute(path), path).toEqual({ kind: "unknown", path });
  });
});

describe("links", () => {
  const click = (change: MouseEventInit, html: string): string | undefined => {
    const anchor = document.createElement("a");
    for (const [name, value] of new URLSearchParams(html)) anchor.setAttribute(name, value);
    const inside = document.createElement("b");
    anchor.append(inside);
    document.body.append(anchor);
    let path: string | undefined;
    anchor.addEventListener("click", (event) => {
      path = followed(event, window.location.origin);
      event.preventDefault();
    });
    inside.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, ...change }));
    return path;
  };
  it("C42 a plain click on a link of the page is followed by the page", () => {
    expect(click({}, "href=/search?q%3Da")).toBe("/search?q=a");
    expect(click({}, "href=/help&target=_self")).toBe("/help");
  });
  it("C42 everything else is the browser's: other buttons and keys, other sites, new tabs, downloads, places on the page", () => {
    for (const change of [{ button: 1 }, { metaKey: true }, { ctrlKey: true }, { shiftKey: true }, { altKey: true }]) expect(click(change, "href=/help")).toBeUndefined();
    for (const html of ["href=https://other.test/", "href=/help&target=_blank", "href=/help&download=x", "href=%23main", "title=none"]) expect(click({}, html), html).toBeUndefined();
  });
});
