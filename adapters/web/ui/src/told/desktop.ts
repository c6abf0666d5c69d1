/** Notifications of the browser. They carry text only. */

export interface Notice {
  readonly title: string;
  readonly body: string;
  /** A second one with the same tag replaces the first. */
  readonly tag: string;
}

export const desktopIsSupported = (): boolean => "Notification" in window;
export const desktopIsAllowed = (): boolean => desktopIsSupported() && Notification.permission === "granted";
export const desktopIsDenied = (): boolean => desktopIsSupported() && Notification.permission === "denied";

/** Asks the person; to be called on a click only. */
export const askForDesktop = async (): Promise<boolean> => desktopIsSupported() && (await Notification.requestPermission()) === "granted";

/** `open` runs when the notification is clicked, with the page in front. False if the browser cannot show it. */
export const showOnDesktop = (notice: Notice, open: () => void): boolean => {
  const shown = made(notice);
  if (!shown) return false;
  shown.onclick = () => {
    window.focus();
    shown.close();
    open();
  };
  return true;
};

const made = (notice: Notice): Notification | undefined => {
  try {
    return new Notification(notice.title, { body: notice.body, tag: notice.tag, icon: "/favicon.svg" });
  } catch {
    // Browsers of telephones offer the name and refuse to make one.
    return undefined;
  }
};
