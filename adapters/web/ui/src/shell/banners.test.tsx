import { screen } from "@solidjs/testing-library";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { person } from "../testing/builders";
import { showPage } from "../testing/page";
import { FakeServer } from "../testing/server";

describe("bars above the content", () => {
  it("a browser that goes offline is told of at once", async () => {
    const page = await showPage(new FakeServer(person("ann")));
    const network = vi.spyOn(window.navigator, "onLine", "get").mockReturnValue(false);
    onTestFinished(() => network.mockRestore());
    page.client.stream.fail();
    await page.later(0);
    expect(screen.getByText(/This browser is offline/)).toBeInTheDocument();
  });
});
