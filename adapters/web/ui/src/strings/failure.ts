/** What is said where the server says nothing a person can use. */

export const failureWords = {
  signed_out: "You are signed out.",
  not_allowed: "You may not do this.",
  not_found: "It does not exist, or you cannot see it.",
  invalid: "The server does not accept this.",
  already: "It is there already.",
  precondition: "This is not possible now.",
  unavailable: "The server cannot be reached. Try again.",
  unknown: "The server did not say whether it was done. Look before you try again.",
  aborted: "It was broken off.",
  internal: "Something went wrong.",
} as const;
