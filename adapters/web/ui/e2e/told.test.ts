/** Being told of a new ask by what the browser really shows and plays. */
import { expect, it } from "vitest";
import { settingsPath } from "../src/router/paths";
import { settingsText } from "../src/strings";
import { Scene } from "./support/scene";

declare global {
  /** What the page's notifications came to: their words, then "shown" or "failed". */
  var notices: string[] | undefined;
  /** The loudest that was sent to the speakers so far, from 0 to 1. */
  var loudest: number | undefined;
}

const scene = Scene.ofFile();

it("an ask is shown on the desktop and played, once both are wanted and the person looks elsewhere", async () => {
  const tab = await scene.tab();
  const { page } = tab;
  await tab.context.grantPermissions(["notifications"]);
  await page.addInitScript(() => {
    const notices: string[] = [];
    globalThis.notices = notices;
    globalThis.Notification = class extends Notification {
      constructor(title: string, options?: NotificationOptions) {
        super(title, options);
        notices.push(`${title}: ${options?.body ?? ""}`);
        this.addEventListener("show", () => notices.push("shown"));
        this.addEventListener("error", () => notices.push("failed"));
      }
    };
    // A driven page always counts as looked at.
    document.hasFocus = () => false;
    globalThis.loudest = 0;
    globalThis.AudioContext = class extends AudioContext {
      override createGain(): GainNode {
        const gain = super.createGain();
        const ear = this.createAnalyser();
        const heard = new Float32Array(ear.fftSize);
        gain.connect(ear);
        const listening = setInterval(() => {
          ear.getFloatTimeDomainData(heard);
          globalThis.loudest = Math.max(globalThis.loudest ?? 0, ...heard);
          if (this.state === "closed") clearInterval(listening);
        }, 5);
        return gain;
      }
    };
  });
  await page.goto(settingsPath("notifications"));
  await scene.ask("Asked before anything was wanted?");
  await expect.poll(() => page.title()).toContain("1");
  expect(await page.evaluate(() => [globalThis.notices, globalThis.loudest])).toEqual([[], 0]);
  await page.getByLabel(settingsText.notify).check();
  await page.getByLabel(settingsText.sound).check();
  await scene.ask("Told on the <b>desktop</b>?");
  await expect.poll(() => page.evaluate(() => globalThis.notices?.length)).toBeGreaterThanOrEqual(2);
  const notices = await page.evaluate(() => globalThis.notices);
  expect(notices?.[0]).toContain("bot");
  expect(notices?.[0]).toContain("Told on the <b>desktop</b>?");
  expect(notices?.slice(1)).toEqual(["shown"]);
  await expect.poll(() => page.evaluate(() => globalThis.loudest)).toBeGreaterThan(0.01);
  // It stays so after a reload.
  await page.reload();
  await page.getByLabel(settingsText.notify).waitFor();
  expect([await page.getByLabel(settingsText.notify).isChecked(), await page.getByLabel(settingsText.sound).isChecked()]).toEqual([true, true]);
});
