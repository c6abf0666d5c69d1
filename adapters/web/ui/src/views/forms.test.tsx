import { fireEvent, screen, within } from "@solidjs/testing-library";
import { flush } from "solid-js";
import { describe, expect, it } from "vitest";
import { channel, person, topic } from "../testing/builders";
import { showPage } from "../testing/page";
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
