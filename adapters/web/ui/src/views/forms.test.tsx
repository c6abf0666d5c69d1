import { fireEvent, screen, within } from "@solidjs/testing-library";
import { flush } from "solid-js";
import { describe, expect, it } from "vitest";
import { channel, group, person, topic } from "../testing/builders";
import { Failure } from "../model/client";
import { main, showPage } from "../testing/page";
import { FakeServer } from "../testing/server";

const ann = person("ann", { admin: true });
const plan = channel("plan", [ann]);
const start = topic("start", plan.id);
const NUL = /holds a NUL character, at place 2, which cannot be sent\.$/;

const opened = async (path: string, opener?: string) => {
  const page = await showPage(new FakeServer(ann).seed(plan, start), { path });
  if (opener !== undefined) fireEvent.click(screen.getByRole("button", { name: opener }));
  await page.later();
  return page;
};

describe("what the server would refuse in a name is told before it is sent, and stays in its field", () => {
  it.each([
    ["a topic's", `/channel/${plan.id}/topic/${start.id}`, "Topic settings", "Name", "Rename"],
    ["a channel's", `/channel/${plan.id}`, "Members and settings", "Rename channel", "Save"],
    ["a new channel's", "/browse/new-channel", undefined, "Name", "Create"],
    ["a new group's", "/browse/new-group", undefined, "Name", "Create"],
  ] as const)("%s", async (_, path, opener, label, button) => {
    const page = await opened(path, opener);
    const field = screen.getByRole("textbox", { name: new RegExp(`^${label}`) });
    const form = field.closest("form") ?? document.body;
    const sent = page.client.calls.length;
    const type = (value: string) => {
      fireEvent.input(field, { target: { value } });
      flush();
    };
    type("x\0");
    expect(within(form).getByRole("alert")).toHaveTextContent(NUL);
    expect(field).toHaveAttribute("aria-invalid", "true");
    expect(within(form).getByRole("button", { name: button })).toBeDisabled();
    type("x".repeat(121));
    expect(within(form).getByRole("alert")).toHaveTextContent("is too long: at most 120 characters, it has 121.");
    expect(field).toHaveValue("x".repeat(121));
    type("fine");
    expect(within(form).getByRole("alert")).toBeEmptyDOMElement();
    expect(within(form).getByRole("button", { name: button })).toBeEnabled();
    expect(page.client.calls.slice(sent).filter(({ method }) => method !== "serverInfo")).toEqual([]);
  });

  it("a new person's", async () => {
    await opened("/settings/people");
    const form = screen.getByRole("textbox", { name: /^Handle/ }).closest("form") ?? document.body;
    const type = (label: RegExp, value: string) => {
      fireEvent.input(within(form).getByRole("textbox", { name: label }), { target: { value } });
      flush();
    };
    type(/^Handle/, "Ben");
    expect(within(form).getByRole("alert")).toHaveTextContent("The handle starts with a character that cannot be there");
    type(/^Handle/, "ben");
    type(/^Name/, "B\0");
    expect(within(form).getByRole("alert")).toHaveTextContent(NUL);
    expect(within(form).getByRole("button", { name: "Create" })).toBeDisabled();
  });
});

describe("what a person changed in a form stays when somebody else changes the same place", () => {
  const field = (name: string) => screen.getByRole("textbox", { name: new RegExp(`^${name}`) });
  const type = (name: string, value: string) => {
    fireEvent.input(field(name), { target: { value } });
    flush();
  };

  it("the name of a topic, which follows the others' as long as nobody wrote in it", async () => {
    const page = await opened(`/channel/${plan.id}/topic/${start.id}`, "Topic settings");
    page.client.server.updateTopic(start.id, { name: "begin" });
    await page.later();
    expect(field("Name")).toHaveValue("begin");
    type("Name", "my new na");
    page.client.server.updateTopic(start.id, { name: "theirs" });
    await page.later();
    expect(field("Name")).toHaveValue("my new na");
  });

  it("the name and the rules of a channel, until they are sent", async () => {
    const page = await opened(`/channel/${plan.id}`, "Members and settings");
    const { server } = page.client;
    const ben = server.putAccount(person("ben"));
    type("Rename channel", "half a na");
    fireEvent.click(screen.getByRole("radio", { name: /^Only the owner/ }));
    flush();
    server.setMembers(plan.id, [ann.id, ben.id]);
    await page.later();
    expect(field("Rename channel")).toHaveValue("half a na");
    expect(screen.getByRole("radio", { name: /^Only the owner/ })).toBeChecked();
    server.putChannel({ ...plan, memberIds: [ann.id, ben.id], name: "theirs", mandatory: true });
    await page.later();
    expect(field("Rename channel")).toHaveValue("half a na");
    expect(screen.getByRole("checkbox", { name: /^Everybody is subscribed/ })).toBeChecked();
    type("Rename channel", "whole");
    fireEvent.submit(field("Rename channel").closest("form") ?? document.body);
    await page.later();
    fireEvent.submit(screen.getByRole("radio", { name: /^Only the owner/ }).closest("form") ?? document.body);
    await page.later();
    expect(server.channels.get(plan.id)).toMatchObject({ name: "whole", ownerOnly: true, ownerId: ann.id, mandatory: true });
    server.putChannel({ ...plan, memberIds: [ann.id, ben.id], name: "theirs again" });
    await page.later();
    expect(field("Rename channel")).toHaveValue("theirs again");
    expect(screen.getByRole("radio", { name: /^Everybody who takes part/ })).toBeChecked();
  });
});

describe("a new channel", () => {
  const type = (name: RegExp, value: string) => {
    fireEvent.input(screen.getByRole("textbox", { name }), { target: { value } });
    flush();
  };

  it("that names somebody unknown is refused in the words of its form", async () => {
    const page = await opened("/browse/new-channel");
    page.client.failNext("createChannel", new Failure("invalid", 'member_handles[1]: no account "nobodyhere"'));
    type(/^Name/, "launch");
    type(/^Members/, "ben nobodyhere");
    fireEvent.click(screen.getByRole("button", { name: "Create" }));
    await page.later();
    expect(within(main()).getByRole("alert")).toHaveTextContent(/^Members: no account "nobodyhere"$/);
  });

  it("with the name of another one is told of that one, and made all the same", async () => {
    const page = await opened("/browse/new-channel");
    const field = screen.getByRole("textbox", { name: /^Name/ });
    type(/^Name/, "plans");
    expect(field).not.toHaveAccessibleDescription();
    type(/^Name/, " PLAN ");
    expect(field).toHaveAccessibleDescription("There is a channel “plan” already, without a group.");
    fireEvent.click(screen.getByRole("button", { name: "Create" }));
    await page.later();
    expect(page.client.called("createChannel")).toHaveLength(1);
  });
});

describe("a channel of a group", () => {
  const team = group("team", ann.id);
  const grouped = channel("plan", [ann], { id: "grouped", groupId: team.id });

  it("says in which one it is, and that another has its name only when that is so", async () => {
    const page = await showPage(new FakeServer(ann).seed(team, grouped, channel("talk", [ann], { groupId: team.id })), { path: `/channel/${grouped.id}` });
    expect(main()).toHaveTextContent(/planGroup team · You take part/);
    fireEvent.click(screen.getByRole("button", { name: "Members and settings" }));
    await page.later();
    const field = screen.getByRole("textbox", { name: /^Rename channel/ });
    expect(field).not.toHaveAccessibleDescription();
    fireEvent.input(field, { target: { value: "Talk" } });
    flush();
    expect(field).toHaveAccessibleDescription("There is a channel “talk” already, in the group “team”.");
  });
});
