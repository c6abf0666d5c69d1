import { screen } from "@solidjs/testing-library";
import { flush } from "solid-js";
import { expect, it } from "vitest";
import { channel, person, topic } from "../../testing/builders";
import { showPage } from "../../testing/page";
import { FakeServer } from "../../testing/server";

it("archived topics are shown and hidden again by one button, and nothing is asked of the server for it", async () => {
  const ann = person("ann");
  const plan = channel("plan", [ann]);
  const server = new FakeServer(ann).seed(plan, topic("now", plan.id), topic("away", plan.id, { archived: true }));
  const page = await showPage(server, { path: `/channel/${plan.id}` });
  const calls = page.client.calls.length;
  const away = () => screen.queryByRole("link", { name: "away" });
  const press = (name: string) => {
    screen.getByRole("button", { name }).click();
    flush();
  };
  expect(away()).toBeNull();
  press("Show archived topics");
  expect(away()).toBeInTheDocument();
  press("Hide archived topics");
  expect(away()).toBeNull();
  expect(page.client.calls).toHaveLength(calls);
});
