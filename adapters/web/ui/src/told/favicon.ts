/** The icon of the browser's tab, with what waits on it. Pure. */

// An icon stands on its own: the page's tokens do not reach into it.
const ICON = `<circle cx="16" cy="16" r="14" fill="#1f5fd6"/><path d="M16 5l4 11-4 11-4-11z" fill="#fff"/>`;

/** A badge says up to 9; beyond that "9+". */
export const badgeOf = (waiting: number): string => (waiting > 9 ? "9+" : String(waiting));

export const faviconSvg = (waiting: number, unread: number): string => {
  const badge =
    waiting > 0
      ? `<circle cx="23" cy="9" r="9" fill="#b3261e"/><text x="23" y="13" font-family="sans-serif" font-size="12" font-weight="700" text-anchor="middle" fill="#fff">${badgeOf(waiting)}</text>`
      : unread > 0
        ? `<circle cx="25" cy="7" r="6" fill="#b3261e"/>`
        : "";
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">${ICON}${badge}</svg>`;
};

export const faviconUrl = (waiting: number, unread: number): string => `data:image/svg+xml,${encodeURIComponent(faviconSvg(waiting, unread))}`;
