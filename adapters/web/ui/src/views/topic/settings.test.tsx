import { fireEvent, screen, within } from "@solidjs/testing-library";
import { flush } from "solid-js";
import { describe, expect, it } from "vitest";
import { channel, person, topic } from "../../testing/builders";
import { focused } from "../../testing/focus";
import { showPage } from "../../testing/page";
import { FakeServer } from "../../testing/server";

const ann = person("ann");
const plan = channel("plan", [ann]);
const [start, other] = [topic("start", plan.id), topic("other", plan.id)];

const opened = async () => {
  const page = await showPage(new FakeServer(ann).seed(plan, start, other), { path: `/channel/${plan.id}/topic/${start.id}` });
  screen.getByRole("button", { name: "Topic settings" }).click();
  flush();
  const field = screen.getByRole("textbox", { name: /^Name/ });
  const send = (name: string) => {
    field.focus();
    fireEvent.input(field, { target: { value: name } });
    flush();
    fireEvent.submit(field.closest("form") ?? document.body);
    flush();
  };
  return { page, field, send };
};

it("what was asked about one name is not asked again by itself when that is written once more", async () => {
  const { field, send } = await opened();
  const asked = () => screen.queryByRole("group", { name: /other/ });
  const write = (name: string) => {
    fireEvent.input(field, { target: { value: name } });
    flush();
  };
  send("other");
  expect(asked()).toBeInTheDocument();
  write("others");
  expect(asked()).toBeNull();
  write("other");
  expect(asked()).toBeNull();
});

describe("the focus in a topic's settings", () => {
  it("goes back to their button once the topic is renamed", async () => {
    const { page, field, send } = await opened();
    send("begin");
    await page.later();
    expect(field).not.toBeInTheDocument();
    expect(focused()).toHaveAccessibleName("Topic settings");
  });

  it("goes back to the name when a merge is thought better of, and to the content when it is done", async () => {
    const { page, field, send } = await opened();
    const press = async (name: string) => {
      const button = within(screen.getByRole("group", { name: /other/ })).getByRole("button", { name });
      button.focus();
      button.click();
      await page.later();
    };
    send("other");
    await press("Cancel");
    expect(focused()).toBe(field);
    send("other");
    await press("Merge");
    expect(page.path()).toBe(`/channel/${plan.id}/topic/${other.id}`);
    expect(focused()).toBe(screen.getByRole("main"));
  });
});
