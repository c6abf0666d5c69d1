/** The server does not count a request as the page's without it, so that no other site can use the page's session. */
export const PAGE_HEADER = "x-compass-page";
