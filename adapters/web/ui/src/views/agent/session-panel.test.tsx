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

describe("the session of an agent", () => {
  it("that begins while the list is on its way is shown once it is read again", async () => {
    const { client, open } = opened();
    const held = client.hold("sessions");
    const page = await open();
    client.sessionList = [{ sessionId: "s1", state: "working", agentId: bot.id }];
    client.server.setPresence(bot.id, "working");
    await page.later();
    expect(client.called("sessions")).toHaveLength(1);
    held.release();
    await page.later();
    expect(client.called("sessions")).toHaveLength(2);
    expect(main().getByRole("button", { name: "Stop" })).toBeEnabled();
  });

  it("is read again also after a read that failed", async () => {
    const { client, open } = opened();
    const held = client.hold("sessions");
    const page = await open();
    client.sessionList = [{ sessionId: "s1", state: "working", agentId: bot.id }];
    client.server.setPresence(bot.id, "working");
    await page.later();
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
});
