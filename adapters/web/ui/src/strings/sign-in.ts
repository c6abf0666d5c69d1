/** What signing in says. */

export const signInText = {
  title: "Sign in to Compass",
  linkReady: "This sign-in link works once. It is used when you press the button, not before.",
  signIn: "Sign in",
  signingIn: "Signing in…",
  pasteTitle: "No link at hand?",
  kind: "What do you have?",
  secret: "A sign-in link or its code",
  token: "A token of yours",
  field: "Paste it here",
  where: "The server prints the first sign-in link when it starts for the first time. An administrator makes more in the settings of this page, or with",
  whereCommand: "compass token sign-in HANDLE",
  alreadyIn: "You are signed in already. This link signs this browser in as the account it was made for.",
  linkSpent: "A sign-in link works once, and only for a week. If you used this one before, you are signed in where you did. Here you need a new one: an administrator makes it in the settings, under People. A token of yours works here, too.",
  stay: "Stay signed in",
  empty: "Paste a link, its code or a token first.",
  signedOutHelp: "Your session ended or was revoked. Drafts and picks in this tab are kept; sign in to go on.",
  elsewhere: "Signed in in another tab by now?",
  notYet: "This browser is not signed in yet.",
  otherAccount: "You signed in as another account. The page starts anew.",
} as const;
