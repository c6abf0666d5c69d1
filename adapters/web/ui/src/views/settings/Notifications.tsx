/** How a new ask is told: on the desktop, by sound. Both are off until somebody wants them. */
import { createSignal, Show, useContext } from "solid-js";
import type { Component } from "solid-js";
import { AppContext } from "../../shell/app";
import { settingsText } from "../../strings";
import { askForDesktop, desktopIsAllowed, desktopIsDenied, desktopIsSupported } from "../../told/desktop";
import { beep } from "../../told/sound";

export const Notifications: Component = () => {
  const { prefs } = useContext(AppContext);
  const [denied, setDenied] = createSignal(desktopIsDenied());
  const on = () => prefs.notify() && !denied();
  const toggle = async (box: HTMLInputElement) => {
    const wanted = box.checked;
    const allowed = wanted && (desktopIsAllowed() || (await askForDesktop()));
    setDenied(wanted && !allowed);
    prefs.setNotify(allowed);
    // Refused: the box must not say otherwise.
    box.checked = allowed;
  };
  return (
    <div class="form">
      <label class="check">
        <input type="checkbox" disabled={!desktopIsSupported()} checked={on()} onChange={(event) => void toggle(event.currentTarget)} /> {settingsText.notify}
      </label>
      <p class="hint">{desktopIsSupported() ? settingsText.notifyHelp : settingsText.notifyUnsupported}</p>
      <Show when={denied()}>
        <p role="alert" class="error">
          {settingsText.notifyDenied}
        </p>
      </Show>
      <label class="check">
        <input type="checkbox" checked={prefs.sound()} onChange={(event) => prefs.setSound(event.currentTarget.checked)} /> {settingsText.sound}
      </label>
      <div class="actions">
        <button type="button" onClick={() => beep()}>
          {settingsText.soundTry}
        </button>
      </div>
    </div>
  );
};
