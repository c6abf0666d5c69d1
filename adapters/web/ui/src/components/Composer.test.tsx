import { fireEvent, screen, within } from "@solidjs/testing-library";
import { createSignal, flush } from "solid-js";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { Failure } from "../model/client";
import type { Channel, Topic } from "../model/types";
import { agent, channel, message, person, topic } from "../testing/builders";
import { focused } from "../testing/focus";
import { settle } from "../testing/store";
import { show, stillStore } from "../testing/view";
import { AGAIN_AFTER_MS, TRIES } from "../store/outbox";
import { Composer } from "./Composer";

const ann = person("ann");
const bob = person("bob", { displayName: "Bob B." });
const bot = agent("bot", ann.id);
const room = channel("room", [ann, bob, bot]);
const plan = topic("plan", room.id);
const other = topic("other", room.id);

function view(shown: Channel = room) {
  const still = stillStore({ accounts: [ann, bob, bot], channels: [shown], topics: [plan, other] });
  const { client } = still.store;
  const [at, setAt] = createSignal<Topic>(plan);
  show(still, () => <Composer channel={shown} topic={at()} />);
  const field = () => screen.getByRole<HTMLTextAreaElement>("textbox", { name: "Message" });
  return {
    ...still, client, field,
    send: () => screen.getByRole<HTMLButtonElement>("button", { name: "Send" }),
    type: (text: string) => {
      field().setSelectionRange(text.length, text.length);
      fireEvent.input(field(), { target: { value: text } });
      flush();
    },
    press: (key: string, more: object = {}) => {
      const isUntouched = fireEvent.keyDown(field(), { key, ...more });
      flush();
      return isUntouched;
    },
    go: (to: Topic) => {
      setAt(to);
      flush();
    },
    posts: () => still.recorded.filter((each) => each.name === "post").map((each) => each.input),
  };
}
const hold = (store: { post: unknown }, reply: () => Promise<never>) => {
  store.post = reply;
};

describe("C34 sending", () => {
  it("by click and by Enter, trimmed, into the topic, one after the other; the field is empty at once", async () => {
    const { type, press, posts, field, send } = view();
    type("  hello  ");
    press("Enter");
    expect(field().value).toBe("");
    type("again");
    send().click();
    expect(posts()).toHaveLength(1);
    await settle();
    const to = { kind: "id", id: plan.id };
    expect(posts()).toEqual([[room.id, to, [{ kind: "text", text: "hello" }]], [room.id, to, [{ kind: "text", text: "again" }]]]);
  });
  it("what sends keeps the focus though the field is empty then", async () => {
    const { type, send, store } = view();
    let posts = 0;
    store.post = () => {
      posts += 1;
      return Promise.resolve(message(1, "hello"));
    };
    type("hello");
    send().focus();
    for (let press = 0; press < 2; press += 1) {
      send().click();
      await settle();
      expect(focused()).toBe(send());
    }
    expect(posts).toBe(1);
  });
  it("Shift+Enter, a key held down, and Enter while a script is composed send nothing", () => {
    const { type, press, posts } = view();
    type("hello");
    expect(press("Enter", { shiftKey: true })).toBe(true);
    press("Enter", { repeat: true });
    press("Enter", { isComposing: true });
    expect(posts()).toEqual([]);
  });
  it("blanks send nothing", () => {
    const { type, press, posts, send } = view();
    press("Enter");
    type(" \n ");
    press("Enter");
    expect(send()).toBeDisabled();
    expect(posts()).toEqual([]);
  });
  it("a failure gives the text back and says so", async () => {
    const { type, press, field, store } = view();
    hold(store, () => Promise.reject(new Failure("invalid", "blocks is empty")));
    type("hello");
    press("Enter");
    await settle();
    expect(field().value).toBe("hello");
    expect(screen.getByRole("alert")).toHaveTextContent("Not sent. blocks is empty");
    expect(store.drafts.read(`message:${plan.id}`)).toBe("hello");
  });
  it("a failure does not overwrite what was typed since", async () => {
    const { type, press, field, store } = view();
    hold(store, () => Promise.reject(new Failure("invalid", "no")));
    type("hello");
    press("Enter");
    type("newer");
    await settle();
    expect(field().value).toBe("newer");
    expect(screen.getByRole("alert")).toHaveTextContent("Not sent. no");
    expect(screen.getByRole("list", { name: "Messages that are not known to be kept" })).toHaveTextContent("hello");
  });
  it("P13 an outcome that is not known is not told as a failure", async () => {
    const { type, press, store } = view();
    hold(store, () => Promise.reject(new Failure("unknown", "the connection broke")));
    type("hello");
    press("Enter");
    await settle();
    expect(screen.getByRole("alert")).toHaveTextContent("It is not known whether this was sent.");
  });
  describe("what may have been kept", () => {
    const lose = new Failure("unknown", "the connection broke");
    const clock = () => {
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
      onTestFinished(() => void vi.useRealTimers());
      return async (ms: number) => {
        vi.advanceTimersByTime(ms);
        await settle();
      };
    };
    const unsent = () => screen.queryAllByRole("listitem").map((each) => each.querySelector("p")?.textContent);
    const failing = (still: ReturnType<typeof view>, times: number) => {
      const { store } = still;
      let [left, tries] = [times, 0];
      store.post = () => {
        tries += 1;
        left -= 1;
        return left >= 0 ? Promise.reject(lose) : Promise.resolve(message(1, "hello"));
      };
      return () => tries;
    };

    it("is sent again by itself, and the page says no more of it once that is known", async () => {
      const still = view();
      const [later, tries] = [clock(), failing(still, 2)];
      still.type("hello");
      still.press("Enter");
      await settle();
      expect(screen.getByRole("alert")).toHaveTextContent("It is not known whether this was sent.");
      expect(unsent()).toEqual(["hello"]);
      await later(AGAIN_AFTER_MS);
      expect(tries()).toBe(2);
      expect(unsent()).toEqual(["hello"]);
      await later(2 * AGAIN_AFTER_MS);
      expect(tries()).toBe(3);
      expect(screen.queryByRole("alert")).toBeNull();
      expect(still.field().value).toBe("");
      await later(100 * AGAIN_AFTER_MS);
      expect(tries()).toBe(3);
    });
    it("is not sent again for ever, but when it is asked for", async () => {
      const still = view();
      const [later, tries] = [clock(), failing(still, 1 + TRIES)];
      still.type("hello");
      still.press("Enter");
      for (let turn = 0; turn < 2 * TRIES; turn += 1) await later(100 * AGAIN_AFTER_MS);
      expect(tries()).toBe(1 + TRIES);
      screen.getByRole("button", { name: "Send now" }).click();
      await settle();
      expect(tries()).toBe(2 + TRIES);
      expect(unsent()).toEqual([]);
    });
    it("is kept apart from what is typed since, and from what is sent since, which waits for it", async () => {
      const still = view();
      const later = clock();
      const posted: unknown[] = [];
      let isDown = true;
      still.store.post = (_channel, _topic, [block], key) => {
        posted.push([block?.kind === "text" && block.text, key]);
        return isDown ? Promise.reject(lose) : Promise.resolve(message(1, "x"));
      };
      still.type("one");
      still.press("Enter");
      still.type("two");
      still.press("Enter");
      still.type("thr");
      await settle();
      expect(unsent()).toEqual(["one", "two"]);
      expect(screen.getByText("Waits for the message before it.")).toBeVisible();
      expect(still.field().value).toBe("thr");
      isDown = false;
      await later(AGAIN_AFTER_MS);
      expect(unsent()).toEqual([]);
      expect(still.field().value).toBe("thr");
      const [first, again, second] = posted;
      expect(posted).toHaveLength(3);
      expect(again).toEqual(first);
      expect(second).toEqual(["two", expect.not.stringMatching(String(again))]);
    });
    it("goes on when the topic is left", async () => {
      const still = view();
      const [later, tries] = [clock(), failing(still, 1)];
      still.type("hello");
      still.press("Enter");
      await settle();
      still.go(other);
      expect(screen.queryByRole("alert")).toBeNull();
      await later(AGAIN_AFTER_MS);
      expect(tries()).toBe(2);
      still.go(plan);
      expect(unsent()).toEqual([]);
      expect(still.field().value).toBe("");
    });
    it("is taken off the list only after it was said what that means, and what waits for it can be written anew; the focus is in the field then", async () => {
      const still = view();
      const later = clock();
      still.store.post = () => Promise.reject(lose);
      for (const text of ["one", "two"]) {
        still.type(text);
        still.press("Enter");
      }
      still.type("three");
      await settle();
      screen.getByRole("button", { name: "Edit" }).click();
      await settle();
      expect(still.field().value).toBe("two\n\nthree");
      expect(still.field()).toHaveFocus();
      screen.getByRole("button", { name: "Take off the list" }).click();
      await settle();
      expect(unsent()).toEqual(["one"]);
      within(screen.getByRole("group", { name: /^This message may have been posted/ })).getByRole("button", { name: "Take off the list" }).click();
      await settle();
      expect(unsent()).toEqual([]);
      expect(still.field()).toHaveFocus();
      await later(100 * AGAIN_AFTER_MS);
      expect(still.store.drafts.read("outbox")).toBe("");
    });
    it("what sends it now leaves the focus to the field when it goes", async () => {
      const still = view();
      clock();
      still.store.post = () => Promise.reject(lose);
      still.type("one");
      still.press("Enter");
      await settle();
      const now = screen.getByRole("button", { name: "Send now" });
      now.focus();
      still.store.post = () => Promise.resolve(message(1, "one"));
      now.click();
      await settle();
      expect(unsent()).toEqual([]);
      expect(focused()).toBe(still.field());
    });
    it("waits for the connection", async () => {
      const still = view();
      still.connect({ kind: "lost", since: 0, retryAt: 0 });
      const [later, tries] = [clock(), failing(still, 1)];
      still.type("hello");
      still.press("Enter");
      await later(100 * AGAIN_AFTER_MS);
      expect(tries()).toBe(1);
      still.connect({ kind: "live" });
      await later(AGAIN_AFTER_MS);
      expect(tries()).toBe(2);
      expect(screen.queryByRole("alert")).toBeNull();
    });
  });
  it("a draft and an error do not follow a switch of the topic, and the draft is there on return", async () => {
    const { type, press, field, store, go } = view();
    hold(store, () => Promise.reject(new Failure("invalid", "no")));
    type("hello");
    press("Enter");
    await settle();
    go(other);
    expect(field().value).toBe("");
    expect(screen.queryByRole("alert")).toBeNull();
    go(plan);
    expect(field().value).toBe("hello");
  });
  it("M3 the limit is told before the server refuses", () => {
    const { type, send, press, posts } = view();
    type("x".repeat(256 * 1024));
    expect(screen.getByText("The message is too long: at most 256 KiB, it has 262,152 bytes.")).toBeInTheDocument();
    expect(send()).toBeDisabled();
    press("Enter");
    expect(posts()).toEqual([]);
    type("x".repeat(256 * 1024 - 8));
    expect(send()).toBeEnabled();
  });
  it("M3 a NUL is told of before the server refuses it, and the draft stays", () => {
    const { type, send, press, posts, field, store } = view();
    type("a\0b");
    expect(field()).toHaveAccessibleDescription("The message holds a NUL character, at place 2, which cannot be sent.");
    expect(send()).toBeDisabled();
    press("Enter");
    expect(posts()).toEqual([]);
    expect(store.drafts.read(`message:${plan.id}`)).toBe("a\0b");
  });
});

describe("C35 who may write", () => {
  const rows: readonly (readonly [string, Channel, string | undefined])[] = [
    ["a member", room, undefined],
    ["the owner of an owner-only channel", { ...room, ownerOnly: true, ownerId: ann.id }, undefined],
    ["another", { ...room, ownerOnly: true, ownerId: bob.id }, "Only the owner writes in this channel."],
    ["anyone, where there is no owner", { ...room, ownerOnly: true }, "Nobody can write in this channel: it is for its owner only and has none."],
    ["one who takes no part", { ...room, memberIds: [bob.id] }, "Join this channel to write here."],
  ];
  it.each(rows)("%s", (_, shown, reason) => {
    const { field } = view(shown);
    if (reason === undefined) {
      expect(field()).not.toHaveAttribute("readonly");
    } else {
      expect(field()).toHaveAttribute("readonly");
      expect(field()).toHaveAccessibleDescription(reason);
      expect(screen.getByText(reason)).toBeVisible();
    }
  });
});

describe("mentions while typing", () => {
  it("a list offers who takes part; arrows choose, Enter inserts and sends nothing", () => {
    const { type, press, field, posts } = view();
    type("hi @b");
    expect(screen.getAllByRole("option").map((each) => each.textContent)).toEqual(["@bob Bob B.", "@bot bot"]);
    press("ArrowDown");
    expect(field().getAttribute("aria-activedescendant")).toBe(screen.getAllByRole("option")[1]?.id);
    expect(screen.getAllByRole("option")[1]).toHaveAttribute("aria-selected", "true");
    press("Enter");
    expect(field().value).toBe("hi @bot ");
    expect(posts()).toEqual([]);
    expect(screen.queryByRole("listbox")).toBeNull();
  });
  it("Escape closes the list and nothing else; an address offers nobody", () => {
    const { type, press } = view();
    type("@");
    expect(screen.getAllByRole("option").length).toBeGreaterThan(3);
    expect(press("Escape")).toBe(false);
    expect(screen.queryByRole("listbox")).toBeNull();
    expect(press("Escape")).toBe(true);
    type("me@b");
    expect(screen.queryByRole("listbox")).toBeNull();
  });
});
