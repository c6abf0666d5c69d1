/** What the page says about calls that the server did not answer. */
export const wireText = {
  unreachable: "The server could not be reached.",
  outcomeUnknown: "No answer came back, so it is not known whether this was kept.",
  aborted: "This was broken off.",
  notUnderstood: (what: string): string => `The server's answer was not understood: ${what}`,
  missing: (what: string): string => `the answer holds no ${what}`,
  unknownPresence: (number: number): string => `presence ${number} is not known to this page`,
  bothEnds: (ask: string): string => `ask "${ask}" is both answered and cancelled`,
  nobody: "there is no such account",
  sessionRefused: (status: number): string => `The server refused with status ${status}.`,
} as const;
