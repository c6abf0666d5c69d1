/** What walks a person to the first ask. */

export const firstRunText = {
  title: "Get your first ask",
  intro: "Compass is where programs ask people. Let one ask you something: it takes a minute.",
  step: (n: number, of: number) => `Step ${n} of ${of}`,
  agent: "Create an agent",
  agentHelp: "An agent is the account a program acts as. It belongs to you.",
  handle: "Handle of the agent",
  handleHelp: "A lower-case letter or digit, then also dots, underscores and hyphens.",
  create: "Create agent and token",
  creating: "Creating…",
  have: (handle: string) => `You have the agent ${handle}.`,
  makeToken: "Make a token for it",
  command: "Ask from a terminal",
  commandHelp: "Run this where the compass program is. The token is shown once, here; it is what the agent acts with.",
  copy: "Copy command",
  question: "Deploy 4.2?",
  yes: "Yes",
  no: "Not today",
  answer: "Answer it",
  waiting: "Waiting for the ask. It appears here by itself.",
} as const;
