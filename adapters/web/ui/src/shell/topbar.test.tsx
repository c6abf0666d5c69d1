import { screen } from "@solidjs/testing-library";
import { expect, it } from "vitest";
import { person } from "../testing/builders";
import { FakeClient } from "../testing/fake";
import { showPage } from "../testing/page";
import { FakeServer } from "../testing/server";

it("what is pressed of the link to one's settings stays while the page learns whose it is", async () => {
  const client = new FakeClient(new FakeServer(person("ann")));
  const held = client.hold("listAccounts");
  const page = await showPage(client.server, { client, wait: false });
  const link = screen.getByRole("link", { name: "Settings" });
  const pressed = link.firstElementChild;
  expect(pressed).toHaveTextContent("⚙");
  held.release();
  await page.later();
  expect(screen.getByRole("link", { name: "ann Settings" })).toBe(link);
  expect(link.firstElementChild).toBe(pressed);
});
