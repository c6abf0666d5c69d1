/** A press whose call is under way: the button keeps the focus, and a second press sends nothing. */
import { fireEvent, render, screen } from "@solidjs/testing-library";
import { flush } from "solid-js";
import { describe, expect, it } from "vitest";
import { Failure } from "../model/client";
import { agent, channel, group, person, topic } from "../testing/builders";
import type { Method } from "../testing/fake";
import { focused } from "../testing/focus";
import { FakeSession, showPage } from "../testing/page";
import { FakeServer } from "../testing/server";
import { settle } from "../testing/store";
import { SignInForm } from "./sign-in/SignInForm";

const ann = person("ann", { admin: true });
const ben = person("ben");
const bot = agent("bot", ann.id);
const team = group("team", ben.id);
const plan = channel("plan", [ann, ben], { subscriberIds: [] });
const open = channel("open", [ben], { groupId: team.id });
const start = topic("start", plan.id);

interface Press {
  readonly path: string;
  /** Buttons that are pressed on the way. */
  readonly via?: readonly string[];
  readonly fill?: Readonly<Record<string, string>>;
  readonly choose?: string;
  readonly button: string | RegExp;
  readonly method: Method;
  /** What has the focus when all is done, if it is not the button. */
  readonly then?: string;
}

const PRESSES: Readonly<Record<string, Press>> = {
  Subscribe: { path: `/channel/${plan.id}`, button: "Subscribe", method: "updateMembers" },
  "Join of a channel": { path: `/channel/${open.id}`, button: "Join", method: "joinChannel", then: "Subscribed" },
  "Join of the list": { path: "/browse", button: "Join open", method: "joinChannel", then: "Browse channels" },
  "Add of a member": { path: `/channel/${plan.id}`, via: ["Members and settings"], fill: { "Add by handle": "bot" }, button: "Add", method: "updateMembers" },
  "Save of a channel's name": { path: `/channel/${plan.id}`, via: ["Members and settings"], fill: { "Rename channel": "plans" }, button: "Save", method: "updateMembers" },
  "Save of a channel's policy": { path: `/channel/${plan.id}`, via: ["Members and settings"], choose: "Everybody is subscribed and cannot unsubscribe", button: "Save", method: "setPolicy" },
  "Start topic": { path: `/channel/${plan.id}`, fill: { "Topic name": "next", "First message": "hello" }, button: "Start topic", method: "post", then: "Content" },
  Archive: { path: `/channel/${plan.id}/topic/${start.id}`, via: ["Topic settings"], button: "Archive", method: "updateTopic" },
  "Rename of a topic": { path: `/channel/${plan.id}/topic/${start.id}`, via: ["Topic settings"], fill: { Name: "begin" }, button: "Rename", method: "updateTopic", then: "Topic settings" },
  "Message an agent": { path: `/agent/${bot.id}`, button: "Message", method: "openDm", then: "Content" },
  "Start an agent": { path: `/agent/${bot.id}`, button: "Start", method: "startAgent" },
  "Open of a direct message": { path: "/browse/new-message", button: /^Open .*ben/, method: "openDm", then: "Content" },
  "Create of a channel": { path: "/browse/new-channel", fill: { Name: "fresh" }, button: "Create", method: "createChannel", then: "Content" },
  "Create of a group": { path: "/browse/new-group", fill: { Name: "fresh" }, button: "Create", method: "createGroup" },
  "Create of an agent": { path: "/settings/agents", fill: { Handle: "helper" }, button: "Create", method: "createAgent" },
  "Create of a person": { path: "/settings/people", fill: { Handle: "cat" }, button: "Create", method: "createUser" },
  "Make a token of an agent": { path: "/settings/agents", button: "Make a token", method: "issueToken" },
  "Make a sign-in link": { path: "/settings/people", button: /sign-in link.* ben|ben.*sign-in link/i, method: "createSignIn" },
  "Make a token, as the first step": { path: "/", button: "Make a token for it", method: "issueToken" },
};

const shown = async ({ path, via = [], fill = {}, choose }: Press) => {
  const page = await showPage(new FakeServer(ann).seed(ben, bot, team, plan, open, start), { path });
  const { client } = page;
  for (const name of via) fireEvent.click(screen.getByRole("button", { name }));
  await page.later();
  for (const [label, value] of Object.entries(fill)) fireEvent.input(screen.getByRole(label === "Add by handle" ? "combobox" : "textbox", { name: new RegExp(`^${label}`) }), { target: { value } });
  if (choose !== undefined) fireEvent.click(screen.getByLabelText(choose));
  flush();
  return { page, client };
};

/** With a form around it, the one of the form that can be sent. */
const named = (name: string | RegExp): HTMLElement => {
  const found = screen.getAllByRole<HTMLButtonElement>("button", { name }).find((each) => !each.disabled);
  if (!found) throw new Error(String(name));
  return found;
};

describe("while its call is under way a button keeps the focus and sends nothing more", () => {
  it.each(Object.entries(PRESSES))("%s", async (_, press) => {
    const { page, client } = await shown(press);
    const button = named(press.button);
    const held = client.hold(press.method);
    const before = client.called(press.method).length;
    button.focus();
    button.click();
    flush();
    expect(focused()).toBe(button);
    expect(button).toHaveAttribute("aria-disabled", "true");
    button.click();
    const form = button.closest("form");
    if (form) fireEvent.submit(form);
    await page.later();
    expect(client.called(press.method)).toHaveLength(before + 1);
    held.release();
    await page.later();
    if (press.then === undefined) expect(focused()).toBe(button);
    else if (press.then === "Content") expect(focused()).toBe(screen.getByRole("main"));
    else expect(focused()).toHaveAccessibleName(press.then);
  });

  it("Make a token, in the list of tokens", async () => {
    const { page, client } = await shown({ path: "/settings/tokens", button: "", method: "issueToken" });
    fireEvent.change(screen.getByLabelText("Tokens of"), { target: { value: bot.id } });
    await page.later();
    const button = named("Make a token");
    const held = client.hold("issueToken");
    button.focus();
    button.click();
    flush();
    button.click();
    await page.later();
    expect(focused()).toBe(button);
    expect(client.called("issueToken")).toHaveLength(1);
    held.release();
    await page.later();
    expect(focused()).toBe(button);
  });

  it("Start topic, by Enter in its message, which keeps the focus", async () => {
    const { page, client } = await shown({ path: `/channel/${plan.id}`, fill: { "Topic name": "next", "First message": "hello" }, button: "", method: "post" });
    const field = screen.getByRole("textbox", { name: "First message" });
    const held = client.hold("post");
    field.focus();
    for (let press = 0; press < 2; press += 1) {
      fireEvent.keyDown(field, { key: "Enter" });
      flush();
      expect(focused()).toBe(field);
    }
    held.fail(new Failure("invalid", "no"));
    await page.later();
    expect(client.called("post")).toHaveLength(1);
    expect(focused()).toBe(field);
    expect(field).toHaveValue("hello");
  });

  it("Sign out", async () => {
    const { page } = await shown({ path: "/settings/profile", button: "", method: "whoAmI" });
    let fail: (error: Error) => void = () => undefined;
    let calls = 0;
    page.pageSession.signOut = () => new Promise((_, reject) => ((fail = reject), (calls += 1)));
    const button = named("Sign out");
    button.focus();
    for (let press = 0; press < 2; press += 1) {
      button.click();
      flush();
      expect(focused()).toBe(button);
    }
    fail(new Failure("unavailable", "the server is away"));
    await page.later();
    expect(focused()).toBe(button);
    expect(calls).toBe(1);
  });

  it.each(["with the link that was opened", "with what was pasted"])("Sign in, %s", async (how) => {
    const session = new FakeSession();
    let end: () => void = () => undefined;
    let calls = 0;
    session.signIn = () => new Promise((resolve) => ((end = resolve), (calls += 1)));
    render(() => <SignInForm session={session} secret="abc" onSignedIn={() => undefined} />);
    fireEvent.input(screen.getByLabelText("Paste it here"), { target: { value: "abc" } });
    flush();
    const button = screen.getAllByRole("button", { name: "Sign in" })[how.endsWith("opened") ? 0 : 1];
    button?.focus();
    for (let press = 0; press < 2; press += 1) {
      button?.click();
      flush();
      expect(focused()).toBe(button);
    }
    end();
    await settle();
    expect(focused()).toBe(button);
    expect(calls).toBe(1);
  });

  it("Try again, of who is signed out", async () => {
    const { page } = await shown({ path: "/", button: "", method: "whoAmI" });
    page.client.stream.fail(new Failure("signed_out", "the session ended"));
    await page.later();
    let end: (open: boolean) => void = () => undefined;
    let calls = 0;
    page.pageSession.isOpen = () => new Promise((resolve) => ((end = resolve), (calls += 1)));
    const button = named("Try again");
    button.focus();
    for (let press = 0; press < 2; press += 1) {
      button.click();
      flush();
      expect(focused()).toBe(button);
    }
    end(false);
    await page.later();
    expect(focused()).toBe(button);
    expect(calls).toBe(1);
  });
});

