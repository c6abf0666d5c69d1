/** An agent's session as its page shows it. */
import { screen, within } from "@solidjs/testing-library";
import { describe, expect, it } from "vitest";
import { Failure } from "../../model/client";
import { agent, person } from "../../testing/builders";
import { FakeClient } from "../../testing/fake";
import { showPage } from "../../testing/page";
import { FakeServer } from "../../testing/server";

const ann = person("ann");
const bot = agent("bot", ann.id);
const main = () => within(screen.getByRole("main"));

const opened = () => {
  const client = new FakeClient(new FakeServer(ann).seed(bot));
  return { client, open: () => showPage(client.server, { client, path: `/agent/${bot.id}` }) };
};

/** A session that begins while the list of them is on its way. */
const begunWhileRead = async () => {
  const { client, open } = opened();
  const held = client.hold("sessions");
  const page = await open();
  client.sessionList = [{ sessionId: "s1", state: "working", agentId: bot.id }];
  client.server.setPresence(bot.id, "working");
  await page.later();
  return { client, held, page };
};

describe("the session of an agent", () => {
  it("that begins while the list is on its way is shown once it is read again", async () => {
    const { client, held, page } = await begunWhileRead();
    expect(client.called("sessions")).toHaveLength(1);
    held.release();
    await page.later();
    expect(client.called("sessions")).toHaveLength(2);
    expect(main().getByRole("button", { name: "Stop" })).toBeEnabled();
  });

  it("is read again also after a read that failed", async () => {
    const { held, page } = await begunWhileRead();
    held.fail(new Failure("unavailable", "the server is away"));
    await page.later();
    expect(main().queryByText(/the server is away/)).toBeNull();
    expect(main().getByRole("button", { name: "Stop" })).toBeEnabled();
  });

  it("is started under a key that the page can draw wherever it was loaded from", async () => {
    const { client, open } = opened();
    const page = await open();
    main().getByRole("button", { name: "Start" }).click();
    await page.later();
    // The store's world draws it: browsers keep other makers of keys from pages that came over plain HTTP.
    expect(client.called("startAgent").map((call) => call.input)).toEqual([[bot.id, expect.stringMatching(/^key-/)]]);
  });

  it("whose start was refused says why until the agent comes online or its session changes", async () => {
    const { client, open } = opened();
    const page = await open();
    const refused = () => main().queryByText("Refused: no runner is attached");
    const start = async () => {
      client.failNext("startAgent", new Failure("precondition", "no runner is attached"));
      main().getByRole("button", { name: "Start" }).click();
      await page.later();
    };
    await start();
    expect(refused()).toBeInTheDocument();
    await page.later(60_000);
    expect(refused()).toBeInTheDocument();
    const held = client.hold("sessions");
    client.server.setPresence(bot.id, "idle");
    await page.later();
    expect(refused()).toBeNull();
    await start();
    expect(refused()).toBeInTheDocument();
    held.release();
    await page.later();
    expect(refused()).toBeInTheDocument();
    const changed = client.hold("sessions");
    client.sessionList = [{ sessionId: "s1", state: "stopped", agentId: bot.id }];
    client.server.setPresence(bot.id, "working");
    await page.later();
    await start();
    expect(refused()).toBeInTheDocument();
    changed.release();
    await page.later();
    expect(refused()).toBeNull();
  });
});

it("an agent that is offline is not said to do anything, on its page and in the left column", async () => {
  const { client, open } = opened();
  client.server.setPresence(bot.id, "working", "reads the log");
  const page = await open();
  expect(screen.getAllByText("reads the log")).toHaveLength(2);
  client.server.setPresence(bot.id, "stopped");
  await page.later();
  expect(screen.queryByText("reads the log")).toBeNull();
  expect(main().queryByText("Says it is doing")).toBeNull();
});
