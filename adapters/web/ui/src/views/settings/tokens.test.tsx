import { fireEvent, screen, within } from "@solidjs/testing-library";
import { flush } from "solid-js";
import { describe, expect, it } from "vitest";
import { dayAndClockTime } from "../../components/clock";
import { Failure } from "../../model/client";
import { agent, person } from "../../testing/builders";
import { FakeClient } from "../../testing/fake";
import { focused } from "../../testing/focus";
import { showPage } from "../../testing/page";
import { FakeServer } from "../../testing/server";

const DAY = 24 * 60 * 60 * 1000;
const JUNE = Date.UTC(2026, 5, 1, 12, 30);
const token = { id: "0190aaaa-0000-7000-8000-00000000aaaa", createdAt: JUNE, expiresAt: undefined };
const session = { id: "0190aaaa-0000-7000-8000-00000000bbbb", createdAt: JUNE + DAY, expiresAt: JUNE + 91 * DAY };
const link = { id: "0190aaaa-0000-7000-8000-00000000cccc", createdAt: JUNE + 2 * DAY, expiresAt: JUNE + 9 * DAY };

const opened = async () => {
  const server = new FakeServer(person("ann")).seed(agent("bot", "user-ann"));
  const client = new FakeClient(server);
  client.tokens = [token, link, session];
  const page = await showPage(server, { client, path: "/settings/tokens" });
  const rows = () => screen.getAllByRole("listitem").filter((row) => row.querySelector("code") !== null);
  const ask = (name: RegExp) => {
    fireEvent.click(screen.getByRole("button", { name }));
    flush();
    return screen.getByRole("group", { name: /Revoke/ });
  };
  return { page, rows, ask };
};

describe("the list of tokens", () => {
  it("says of each what it is, by which end of its id it is known, when it was made and ends; the newest first", async () => {
    const { rows } = await opened();
    const [first, second, third] = rows().map((row) => row.textContent);
    expect(first).toContain("Sign-in link, not used yet …0000cccc");
    expect(second).toContain("Session of a browser …0000bbbb");
    expect(second).toContain(`Created ${dayAndClockTime(session.createdAt)}`);
    expect(second).toContain(`Ends ${dayAndClockTime(session.expiresAt)}`);
    expect(third).toContain("Token of a program …0000aaaa");
    expect(third).toContain("Ends never");
    expect(rows()[2]?.querySelector("code")).toHaveAttribute("title", token.id);
  });

  it("names the one that is to be revoked, and warns of a session alone that it may be this browser's", async () => {
    const { page, ask } = await opened();
    const sure = ask(/^Revoke session of a browser …0000bbbb/i);
    expect(sure).toHaveTextContent(`Revoke session of a browser …0000bbbb, created ${dayAndClockTime(session.createdAt)}?`);
    expect(sure).toHaveTextContent("It may be this browser's own");
    fireEvent.click(within(sure).getByRole("button", { name: "Cancel" }));
    flush();
    const other = ask(/^Revoke token of a program …0000aaaa/i);
    expect(other).not.toHaveTextContent("this browser");
    fireEvent.click(within(other).getByRole("button", { name: "Revoke" }));
    await page.later();
    expect(page.client.called("revokeToken").map((call) => call.input)).toEqual([[token.id]]);
  });

  it("no session of an agent's may be this browser's", async () => {
    const { page, ask } = await opened();
    fireEvent.change(screen.getByLabelText("Tokens of"), { target: { value: "agent-bot" } });
    await page.later();
    expect(ask(/^Revoke session of a browser …0000bbbb/i)).not.toHaveTextContent("this browser");
  });
});

describe("tokens of the account that is picked next", () => {
  const pick = async (page: Awaited<ReturnType<typeof opened>>["page"], id: string) => {
    fireEvent.change(screen.getByLabelText("Tokens of"), { target: { value: id } });
    await page.later();
  };
  const make = async (page: Awaited<ReturnType<typeof opened>>["page"]) => {
    screen.getByRole("button", { name: "Make a token" }).click();
    await page.later();
  };
  it("have no refusal of the one before beside them", async () => {
    const { page } = await opened();
    await pick(page, "agent-bot");
    page.client.failNext("issueToken", new Failure("precondition", "no, says the server"));
    await make(page);
    expect(screen.getByText("no, says the server")).toBeInTheDocument();
    await pick(page, "user-ann");
    expect(screen.queryByText("no, says the server")).toBeNull();
  });
  it("have no token of the one before above them, however late it comes", async () => {
    const { page } = await opened();
    await pick(page, "agent-bot");
    await make(page);
    expect(page.container.querySelector(".settings .card")).not.toBeNull();
    const held = page.client.hold("issueToken");
    await make(page);
    await pick(page, "user-ann");
    held.release();
    await page.later();
    expect(page.container.querySelector(".settings .card")).toBeNull();
  });
});

describe("the focus in the list of tokens", () => {
  const revoke = async (page: Awaited<ReturnType<typeof opened>>["page"], name: RegExp) => {
    const button = screen.getByRole("button", { name });
    button.focus();
    button.click();
    flush();
    const yes = within(screen.getByRole("group", { name: /^Revoke/ })).getByRole("button", { name: "Revoke" });
    const held = page.client.hold("revokeToken");
    yes.focus();
    yes.click();
    await page.later();
    expect(focused()).toBe(button);
    button.click();
    flush();
    expect(screen.queryByRole("group", { name: /^Revoke/ })).toBeNull();
    held.release();
    await page.later();
  };

  it("a token that is revoked leaves it to the next one, the last one to the one before, the only one to the list", async () => {
    const { page } = await opened();
    await revoke(page, /^Revoke session of a browser/i);
    expect(focused()).toHaveAccessibleName(/^Revoke token of a program/i);
    await revoke(page, /^Revoke token of a program/i);
    expect(focused()).toHaveAccessibleName(/^Revoke sign-in link/i);
    await revoke(page, /^Revoke sign-in link/i);
    expect(focused()).toBe(screen.getByRole("list", { name: "Tokens" }));
    expect(page.client.called("revokeToken")).toHaveLength(3);
  });

  it.each(["Cancel", "Escape"])("a question that is put away by %s leaves it to what asked", async (how) => {
    const { page, ask } = await opened();
    const button = screen.getByRole("button", { name: /^Revoke session/i });
    button.focus();
    const sure = ask(/^Revoke session/i);
    expect(focused()).toBe(sure);
    if (how === "Escape") fireEvent.keyDown(sure, { key: "Escape" });
    else {
      within(sure).getByRole("button", { name: "Cancel" }).focus();
      within(sure).getByRole("button", { name: "Cancel" }).click();
    }
    await page.later();
    expect(sure).not.toBeInTheDocument();
    expect(focused()).toBe(button);
  });

  it("a new token that is hidden leaves it to what made it", async () => {
    const { page } = await opened();
    fireEvent.change(screen.getByLabelText("Tokens of"), { target: { value: "agent-bot" } });
    await page.later();
    screen.getByRole("button", { name: "Make a token" }).click();
    await page.later();
    const hide = screen.getByRole("button", { name: "Done, hide it" });
    hide.focus();
    hide.click();
    await page.later();
    expect(hide).not.toBeInTheDocument();
    expect(focused()).toBe(screen.getByRole("button", { name: "Make a token" }));
  });
});
