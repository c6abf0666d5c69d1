/** What the help says. */

export const helpText = {
  keys: "Keys",
  close: "Close",
  then: "then",
  askTitle: "Asks",
  asks: "An agent asks, you answer once. Picking records your choice in this tab; only the send button sends it. Nothing has to be answered quickly: an ask waits until somebody answers it or its asker withdraws it.",
  channelsTitle: "Channels and topics",
  channels: "Messages belong to a topic of a channel. You read the channels you take part in. Subscribing tells the server that a channel matters to you.",
  awayTitle: "Away",
  away: "An agent that is offline is not connected. It may still be waiting for your answer, as the command “compass ask --wait” does. Your answer is kept for it until it takes it.",
  groupKeys: [
    ["j or k", "Next or previous ask of the inbox, or message of a topic; Tab goes on to what can be done with it"],
    ["c", "Write in the topic that is shown"],
    ["Arrow keys", "Move inside a list of the left column"],
    ["1 to 9", "Choose an option of the ask that has the focus"],
    ["Enter", "Send a message; Shift+Enter starts a new line"],
  ],
} as const;
