import { screen, within } from "@solidjs/testing-library";
import { describe, expect, it } from "vitest";
import { channel, person } from "../../testing/builders";
import { focused } from "../../testing/focus";
import { showPage } from "../../testing/page";
import { FakeServer } from "../../testing/server";
import { settle } from "../../testing/store";

const [ann, ben, cat] = [person("ann"), person("ben"), person("cat")];
const plan = channel("plan", [ann, ben, cat]);

const opened = async () => {
  const server = new FakeServer(ann).seed(ben, cat, plan);
  const page = await showPage(server, { path: `/channel/${plan.id}` });
  const press = async (name: string, inside: HTMLElement = document.body) => {
    const button = within(inside).getByRole("button", { name });
    button.focus();
    button.click();
    await page.later();
    return button;
  };
  const sure = (name: RegExp) => screen.getByRole("group", { name });
  await press("Members and settings");
  return { page, server, press, sure };
};

describe("the focus in the list of members", () => {
  it("who is put out leaves it to the next one, else to the one before, else to the list", async () => {
    const { page, press, sure } = await opened();
    const button = await press("Remove ben");
    const held = page.client.hold("updateMembers");
    page.client.stream.close();
    within(sure(/ben/)).getByRole("button", { name: "Yes" }).focus();
    within(sure(/ben/)).getByRole("button", { name: "Yes" }).click();
    await settle();
    expect(button).toHaveAttribute("aria-disabled", "true");
    expect(focused()).toBe(button);
    held.release();
    await page.later(40_000);
    expect(focused()).toHaveAccessibleName("Remove cat");
    await press("Remove cat");
    await press("Yes", sure(/cat/));
    expect(focused()).toBe(screen.getByRole("list", { name: /^Members/ }));
    expect(page.client.called("updateMembers")).toHaveLength(2);
  });

  it("somebody else's hand leaves it there as well", async () => {
    const { page, server } = await opened();
    screen.getByRole("button", { name: "Remove cat" }).focus();
    server.setMembers(plan.id, [ann.id, ben.id]);
    await page.later();
    expect(focused()).toHaveAccessibleName("Remove ben");
  });

  it("leaving that is thought better of leaves it to what asked", async () => {
    const { press, sure } = await opened();
    const leave = await press("Leave");
    await press("Cancel", sure(/^Leave this channel/));
    expect(focused()).toBe(leave);
  });
});
