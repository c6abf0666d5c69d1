/** What becomes of a new topic whose reply comes late. */
import { fireEvent, screen } from "@solidjs/testing-library";
import { flush } from "solid-js";
import { describe, expect, it } from "vitest";
import { channelPath, helpPath, topicPath } from "../../router/paths";
import { channel, person } from "../../testing/builders";
import { FakeClient } from "../../testing/fake";
import { showPage } from "../../testing/page";
import { FakeServer } from "../../testing/server";

const ann = person("ann");
const plan = channel("plan", [ann]);

const start = async () => {
  const client = new FakeClient(new FakeServer(ann).seed(plan));
  const page = await showPage(client.server, { client, path: channelPath(plan.id) });
  const held = client.hold("post");
  fireEvent.input(screen.getByRole("textbox", { name: "Topic name" }), { target: { value: "launch" } });
  fireEvent.input(screen.getByRole("textbox", { name: "First message" }), { target: { value: "hello" } });
  flush();
  screen.getByRole("button", { name: "Start topic" }).click();
  await page.later();
  return { ...page, held };
};

describe("a new topic", () => {
  it("is gone to once it is there", async () => {
    const { held, later, path, store } = await start();
    held.release();
    await later();
    expect(path()).toBe(topicPath(plan.id, [...store.state().topics.keys()][0] ?? ""));
  });
  it("takes nobody away who has gone elsewhere meanwhile", async () => {
    const { app, held, later, path, store } = await start();
    app.router.go(helpPath);
    await later();
    held.release();
    await later();
    expect(store.state().topics.size).toBe(1);
    expect(path()).toBe(helpPath);
  });
});
