import { fireEvent, screen } from "@solidjs/testing-library";
import { flush } from "solid-js";
import { describe, expect, it } from "vitest";
import type { Account } from "../../model/types";
import { agent, channel, group, person } from "../../testing/builders";
import { showPage } from "../../testing/page";
import { FakeServer } from "../../testing/server";

const ann = person("ann");
const ben = person("ben");
const bot = agent("bot", ann.id);
const bens = agent("bens", ben.id);
const team = group("team", ben.id);

const opened = async (change: Parameters<typeof channel>[2], members: readonly Account[] = [ann, ben]) => {
  const plan = channel("plan", members, change);
  const server = new FakeServer(ann).seed(ben, bot, bens, team, plan);
  const page = await showPage(server, { path: `/channel/${plan.id}` });
  return { page, server, plan, leave: () => screen.getByRole("button", { name: "Leave" }) };
};

describe("leaving a channel", () => {
  it("its owner is told why not before trying, until the channel is open to all", async () => {
    const { page, server, plan, leave } = await opened({ ownerOnly: true, ownerId: ann.id });
    expect(leave()).toBeDisabled();
    expect(leave()).toHaveAccessibleDescription(/^You own this channel\./);
    server.putChannel({ ...plan, ownerOnly: false, ownerId: undefined });
    await page.later();
    expect(leave()).toBeEnabled();
    expect(leave()).not.toHaveAccessibleDescription();
  });
  it("whoever has an agent in it is told which", async () => {
    const { leave } = await opened({}, [ann, ben, bot]);
    expect(leave()).toBeDisabled();
    expect(leave()).toHaveAccessibleDescription("Your agent bot is a member. To leave this channel, first remove it.");
  });
  it.each([
    ["that nobody else sees", undefined, "Leave this channel? You can read it again only when someone who takes part adds you."],
    ["that everybody sees", team.id, "Leave this channel? You can read it again only after joining again."],
  ])("says how one comes back into one %s", async (_, groupId, question) => {
    const { leave } = await opened({ groupId }, [ann, ben, bens]);
    fireEvent.click(leave());
    flush();
    expect(screen.getByText(question)).toBeInTheDocument();
  });
  const asked = () => screen.queryByRole("group", { name: /^Leave this channel/ });
  it("a question that cannot be answered any more does not come back by itself", async () => {
    const { page, server, plan, leave } = await opened({});
    fireEvent.click(leave());
    await page.later();
    expect(asked()).toBeInTheDocument();
    server.putChannel({ ...plan, ownerOnly: true, ownerId: ann.id });
    await page.later();
    expect(asked()).toBeNull();
    server.putChannel(plan);
    await page.later();
    expect(leave()).toBeEnabled();
    expect(asked()).toBeNull();
  });
  it("a question of one channel is not asked of the next", async () => {
    const { page, server, leave } = await opened({});
    const next = server.putChannel(channel("next", [ann, ben]));
    fireEvent.click(leave());
    await page.later();
    expect(asked()).toBeInTheDocument();
    page.app.router.go(`/channel/${next.id}`);
    await page.later();
    expect(screen.getByRole("heading", { level: 1 })).toHaveTextContent("next");
    expect(asked()).toBeNull();
  });
});

it("whoever leaves is not told of it as of something that befell them, though the stream tells first", async () => {
  const { page, leave } = await opened({});
  fireEvent.click(leave());
  flush();
  const held = page.client.hold("updateMembers");
  fireEvent.click(screen.getByRole("button", { name: "Yes" }));
  await page.later();
  expect(page.path()).toBe("/");
  expect(screen.getByText(/^You are no longer in/)).toBeInTheDocument();
  held.release();
  await page.later();
  expect(page.path()).toBe("/");
  expect(screen.queryByText(/^You are no longer in/)).toBeNull();
});

describe("putting somebody out", () => {
  it("is not offered for the owner of the channel, nor of an agent in it; the reason is said", async () => {
    await opened({ ownerOnly: true, ownerId: ben.id }, [ann, ben, bot]);
    fireEvent.click(screen.getByRole("button", { name: "Members and settings" }));
    flush();
    expect(screen.getByRole("button", { name: "ben cannot be removed: owns this channel" })).toBeDisabled();
    expect(screen.getByRole("button", { name: "Remove bot" })).toBeEnabled();
  });
  it("names the agent that keeps its owner in", async () => {
    await opened({}, [ann, ben, bens]);
    fireEvent.click(screen.getByRole("button", { name: "Members and settings" }));
    flush();
    expect(screen.getByRole("button", { name: "ben cannot be removed: owns bens, which is a member" })).toBeDisabled();
  });
});

describe("how one stands to a channel", () => {
  it("is said in whole words", async () => {
    await opened({});
    expect(screen.getByText(/^You take part and are subscribed · 2 members$/)).toBeInTheDocument();
  });
});
