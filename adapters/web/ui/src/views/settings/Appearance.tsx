/** Light, dark, or as the system is. */
import { createUniqueId, For, useContext } from "solid-js";
import type { Component } from "solid-js";
import { THEMES } from "../../prefs/prefs";
import { AppContext } from "../../shell/app";
import { settingsText } from "../../strings";

export const Appearance: Component = () => {
  const { prefs } = useContext(AppContext);
  const name = createUniqueId();
  return (
    <div class="form">
      <fieldset>
        <legend>{settingsText.theme}</legend>
        <For each={THEMES}>
          {(theme) => (
            <label class="check">
              <input type="radio" name={name} checked={prefs.theme() === theme} onChange={() => prefs.setTheme(theme)} /> {settingsText.themes[theme]}
            </label>
          )}
        </For>
      </fieldset>
    </div>
  );
};
