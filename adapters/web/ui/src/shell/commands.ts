/** Keys of the whole page, and what Escape does where nothing nearer takes it. */
import type { Keys } from "../keyboard/keys";
import { browsePath, helpPath, inboxPath, settingsPath } from "../router/paths";
import type { Router } from "../router/router";
import { keyText } from "../strings";

/** Escape climbs down: what is open closes first, the help too, then the focus leaves for the content. */
export const registerKeys = (keys: Keys, router: Router, closeMenu: () => boolean, focusMain: () => void): (() => void) => {
  const go = (path: string) => () => {
    router.go(path);
    return true;
  };
  const leaveHelp = () => {
    if (router.route().kind !== "help") return false;
    router.back(inboxPath);
    return true;
  };
  const undo = [
    keys.register({ id: "inbox", keys: "g i", label: keyText.inbox, run: go(inboxPath) }),
    keys.register({ id: "browse", keys: "g b", label: keyText.browse, run: go(browsePath) }),
    keys.register({ id: "settings", keys: "g s", label: keyText.settings, run: go(settingsPath("profile")) }),
    keys.register({ id: "help", keys: "?", label: keyText.help, run: () => leaveHelp() || go(helpPath)() }),
    keys.register({
      id: "leave",
      keys: "Escape",
      label: keyText.leave,
      run: () => {
        if (closeMenu() || leaveHelp()) return true;
        if (document.activeElement === document.body) return false;
        focusMain();
        return true;
      },
    }),
  ];
  return () => {
    for (const each of undo) each();
  };
};
