/** A team's week: what every view has something to show of. */
import { fileURLToPath } from "node:url";
import { ChannelGroupVisibility } from "../../src/gen/compass/v1/comms_pb";
import { Agent, Person, there } from "./api";
import type { Server } from "./server";

const sample = (name: string): string => fileURLToPath(new URL(`../../../../../bin/compass/tests/fixtures/asks/${name}.json`, import.meta.url));

export interface Team {
  readonly admin: Person;
  readonly ben: Person;
  readonly deploy: Agent;
  readonly channelId: string;
  readonly topicId: string;
  /** A message in the middle of the topic. */
  readonly messageId: string;
}

const LONG_TEXT = `## What changed

The migration runs **online** now. It needs three steps:

1. add the column, \`NULL\` allowed
2. fill it in batches of 1,000
3. set \`NOT NULL\`

> Step 2 takes about four minutes on the copy of production.

\`\`\`sql
ALTER TABLE orders ADD COLUMN region text;
UPDATE orders SET region = 'eu' WHERE id BETWEEN $1 AND $2;
\`\`\`

| step | locks | time |
|---|---|---|
| 1 | short | 20 ms |
| 2 | none | 4 min |
| 3 | short | 90 ms |

See [the runbook](https://example.com/runbook), @ben and @everyone.`;

async function below(admin: Person, server: Server, handle: string, parentAgentId: string): Promise<Agent> {
  const { account } = await admin.comms.createAgent({ handle, displayName: handle, parentAgentId });
  const made = there(account, "account");
  const { token } = await admin.compass.issueToken({ accountId: made.id });
  return new Agent(server, token, made);
}

export async function team(server: Server): Promise<Team> {
  const admin = await Person.signIn(server, await server.firstSecret());
  const ben = await admin.addPerson("ben");
  await admin.addPerson("chloe");
  const deploy = await admin.addAgent("deploy-bot");
  const tests = await below(admin, server, "test-bot", deploy.account.id);
  await below(admin, server, "load-bot", tests.account.id);
  const docs = await admin.addAgent("docs-bot");
  await server.attach(deploy.token);
  await deploy.door.call({ callId: "status", call: { case: "setStatus", value: { activity: "waiting for a decision on 4.2" } } });

  const group = async (name: string, by: Person, visibility = ChannelGroupVisibility.SHARED): Promise<string> => {
    const { group: made } = await by.comms.createChannelGroup({ name, visibility });
    return there(made, "group").id;
  };
  const platform = await group("platform", admin);
  const research = await group("research", ben);
  const releases = await admin.addChannel("releases", ["ben", "chloe", "deploy-bot", "test-bot"], platform);
  const incidents = await admin.addChannel("incidents", ["ben", "deploy-bot"], platform);
  await admin.addChannel("random", ["ben", "chloe"]);
  await ben.addChannel("reading-list", [], research);
  await ben.addChannel("experiments", ["chloe"], research);

  await admin.post(releases.id, "Release 4.2", "Shall we cut the branch today? @deploy-bot, what is left?");
  const middle = await deploy.post("Release 4.2", LONG_TEXT, releases.id);
  await ben.post(releases.id, "Release 4.2", "Looks good to me. I would wait for the load test, though.");
  await tests.post("Release 4.2", "Load test: 1,204 requests per second, p99 at 41 ms. No errors.", releases.id);
  const answered = await deploy.ask("Release 4.2", [{ id: "a", header: "Branch", question: "Cut the branch for 4.2 now?", options: ["Cut it", "Wait until Monday"], recommended: 0 }], releases.id);
  await ben.comms.respondToAsk({ askId: answered.askId, answers: [{ questionId: "a", chosenOptionIds: ["0"], customText: "" }] });
  const withdrawn = await tests.ask("Release 4.2", [{ id: "w", question: "Run the load test again with twice the clients?", options: ["Yes", "No"] }], releases.id);
  await tests.cancel(withdrawn.askId);
  await deploy.ask(
    "Release 4.2",
    [
      {
        id: "how",
        header: "Rollout",
        question: "How shall 4.2 go out?",
        options: [
          { label: "Canary, 5 %", description: "One hour on two machines, then all" },
          { label: "All at once", description: "Eight minutes of mixed versions" },
          { label: "Not today" },
        ],
        recommended: 0,
      },
      { id: "who", header: "Tell", question: "Who is told beforehand?", options: ["Support", "Sales", "Nobody"], multiple: true },
      { id: "note", question: "Anything for the release note?" },
    ],
    releases.id,
  );
  await admin.comms.updatePinnedBoard({ channelId: releases.id, op: { case: "pin", value: { messageId: middle.id } } });
  for (const [index, topic] of ["Flaky tests", "On call in December", "Certificates", "Old plans"].entries()) {
    await ben.post(releases.id, topic, `First thought on ${topic.toLowerCase()}.`);
    if (index < 2) await deploy.post(topic, "I looked into it and wrote down what I found.", releases.id);
  }
  const { topics } = await admin.comms.listTopics({ channelId: releases.id });
  const old = there(topics.find(({ name }) => name === "Old plans"), "topic");
  await admin.comms.updateTopic({ topicId: old.id, archived: true });
  await ben.post(incidents.id, "Disk full on db-2", "It fills by 2 GB an hour since noon.");
  await deploy.post("Disk full on db-2", "The old WAL files are kept because a slot is behind.", incidents.id);

  for (const name of ["many-scripts", "previews", "thirty-options"]) {
    await server.cli(["ask", "--agent", "docs-bot", "--file", sample(name)], docs.token);
  }
  const { accounts } = await admin.comms.listAccounts({});
  const me = there(accounts.find(({ id }) => id === admin.accountId), "account");
  const { channel: dm } = await ben.people.openDM({ peerHandle: me.handle });
  await ben.post(there(dm, "channel").id, "Lunch", "Noodles at one?");
  return { admin, ben, deploy, channelId: releases.id, topicId: middle.topicId, messageId: middle.id };
}
