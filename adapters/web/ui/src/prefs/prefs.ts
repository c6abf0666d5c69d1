/** The person's settings of this browser, as signals. */
import { createSignal } from "solid-js";
import { kept } from "./storage";
import type { Kept } from "./storage";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];
export type InboxOrder = "oldest" | "newest";

export interface Prefs {
  readonly theme: () => Theme;
  setTheme(theme: Theme): void;
  readonly inboxOrder: () => InboxOrder;
  setInboxOrder(order: InboxOrder): void;
  /** Desktop notifications; means nothing without the browser's permission. */
  readonly notify: () => boolean;
  setNotify(on: boolean): void;
  readonly sound: () => boolean;
  setSound(on: boolean): void;
  /** True if the section of the left column is folded. */
  readonly folded: (section: string) => boolean;
  setFolded(section: string, folded: boolean): void;
}


/** Also read by `public/theme.js`, before anything is painted. */
export const THEME_KEY = "compass.theme";

export const createPrefs = (store: Kept = kept()): Prefs => {
  const [theme, setTheme] = createSignal<Theme>(THEMES.find((each) => each === store.read(THEME_KEY)) ?? "system");
  const [inboxOrder, setInboxOrder] = createSignal<InboxOrder>(store.read("compass.inbox-order") === "newest" ? "newest" : "oldest");
  const [notify, setNotify] = createSignal(store.read("compass.notify") === "on");
  const [sound, setSound] = createSignal(store.read("compass.sound") === "on");
  const [folds, setFolds] = createSignal<ReadonlySet<string>>(new Set(lines(store.read("compass.folded"))));
  const onOff = (on: boolean) => (on ? "on" : "off");
  return {
    theme,
    setTheme: (next) => {
      store.write(THEME_KEY, next);
      setTheme(next);
    },
    inboxOrder,
    setInboxOrder: (next) => {
      store.write("compass.inbox-order", next);
      setInboxOrder(next);
    },
    notify,
    setNotify: (on) => {
      store.write("compass.notify", onOff(on));
      setNotify(on);
    },
    sound,
    setSound: (on) => {
      store.write("compass.sound", onOff(on));
      setSound(on);
    },
    folded: (section) => folds().has(section),
    setFolded: (section, folded) =>
      setFolds((before) => {
        const next = new Set(before);
        if (folded) next.add(section);
        else next.delete(section);
        store.write("compass.folded", [...next].join("\n"));
        return next;
      }),
  };
};

const lines = (text: string | undefined): readonly string[] => (text === undefined ? [] : text.split("\n").filter((line) => line !== ""));

/** The scheme a theme stands for. */
export const schemeOf = (theme: Theme, systemIsDark: boolean): "light" | "dark" => (theme === "system" ? (systemIsDark ? "dark" : "light") : theme);
