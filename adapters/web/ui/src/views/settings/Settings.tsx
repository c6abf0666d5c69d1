/** The settings, a section at a time. */
import { For, Match, Switch } from "solid-js";
import type { Component } from "solid-js";
import { settingsPath } from "../../router/paths";
import { SETTINGS_SECTIONS } from "../../router/route";
import type { SettingsSection } from "../../router/route";
import { settingsText, titleText } from "../../strings";
import { KeyList } from "../help/Help";
import { Agents } from "./Agents";
import { Appearance } from "./Appearance";
import { Notifications } from "./Notifications";
import { People } from "./People";
import { Profile } from "./Profile";
import { Tokens } from "./Tokens";
import "./Settings.css";

const Settings: Component<{ readonly section: SettingsSection }> = (props) => (
  <div class="page settings">
    <h1>{titleText.settings}</h1>
    <nav class="settings-nav" aria-label={titleText.settings}>
      <For each={SETTINGS_SECTIONS}>
        {(section) => (
          <a href={settingsPath(section)} aria-current={section === props.section ? "page" : undefined}>
            {settingsText.sections[section]}
          </a>
        )}
      </For>
    </nav>
    <div class="settings-section">
      <h2>{settingsText.sections[props.section]}</h2>
      <Switch>
        <Match when={props.section === "profile"}>
          <Profile />
        </Match>
        <Match when={props.section === "tokens"}>
          <Tokens />
        </Match>
        <Match when={props.section === "agents"}>
          <Agents />
        </Match>
        <Match when={props.section === "people"}>
          <People />
        </Match>
        <Match when={props.section === "notifications"}>
          <Notifications />
        </Match>
        <Match when={props.section === "appearance"}>
          <Appearance />
        </Match>
        <Match when={props.section === "keyboard"}>
          <p class="dim">{settingsText.keysHelp}</p>
          <KeyList />
        </Match>
      </Switch>
    </div>
  </div>
);
export default Settings;
