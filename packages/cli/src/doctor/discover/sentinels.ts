import type { RedisSentinelOptions } from '@sluice/core';
import { DoctorNode, type NodeAddress, nameOf, type Reply } from '../node.js';
import { messageOf } from '../refusal.js';
import type { Credentials, Timing } from '../settings.js';

/** The report of one sentinel on the primary. */
export interface Opinion {
  readonly node: DoctorNode;
  /** The reason why there is no report. */
  readonly failure?: string;
  /** Address of the primary; undefined if the sentinel does not know the name. */
  readonly primary?: NodeAddress;
  readonly flags?: readonly string[];
  readonly quorum?: number;
  /** Number of other sentinels that it knows. */
  readonly others?: number;
  /** The error of `SENTINEL CKQUORUM`; undefined if the quorum is reached. */
  readonly noQuorum?: string;
}

export interface Sentinels {
  readonly name: string;
  readonly opinions: readonly Opinion[];
  /** Servers that sentinels report as the primary, with most votes first. */
  readonly primaries: readonly NodeAddress[];
}

/** Reads the report of each given sentinel. */
export async function openSentinels(
  { sentinels, name, options = {} }: RedisSentinelOptions,
  { tls, family }: Credentials,
  timing: Timing,
): Promise<Sentinels> {
  const { sentinelUsername, sentinelPassword } = options as Record<string, string | undefined>;
  const credentials: Credentials = {
    ...(sentinelUsername !== undefined && { username: sentinelUsername }),
    ...(sentinelPassword !== undefined && { password: sentinelPassword }),
    ...(tls !== undefined && { tls }),
    ...(family !== undefined && { family }),
  };
  const opinions = await Promise.all(
    sentinels.map(async ({ host, port = 26379 }) => {
      const node = await new DoctorNode({ host, port }, credentials, timing).open();
      return opinionOf(node, name).catch((error: unknown) => ({ node, failure: messageOf(error) }));
    }),
  );
  return { name, opinions, primaries: byVotes(opinions) };
}

async function opinionOf(node: DoctorNode, name: string): Promise<Opinion> {
  if (node.failure !== undefined) return { node, failure: messageOf(node.failure) };
  const about = 'the primary';
  const address = await node.ask(about, 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name);
  if (address === undefined || address === null) return { node };
  const [host, port] = address as [string, string];
  const fields = fieldsIn(await node.ask(about, 'SENTINEL', 'MASTER', name));
  const quorum = fields.get('quorum');
  const others = fields.get('num-other-sentinels');
  return {
    node,
    primary: { host, port: Number(port) },
    flags: fields.get('flags')?.split(',') ?? [],
    ...(quorum !== undefined && { quorum: Number(quorum) }),
    ...(others !== undefined && { others: Number(others) }),
    ...(await quorumError(node, name)),
  };
}

async function quorumError(node: DoctorNode, name: string): Promise<{ noQuorum?: string }> {
  try {
    await node.ask('the quorum', 'SENTINEL', 'CKQUORUM', name);
    return {};
  } catch (error) {
    if (/NOQUORUM/.test(messageOf(error))) return { noQuorum: messageOf(error) };
    throw error;
  }
}

/** Reads a flat list of names and values. */
function fieldsIn(reply: Reply | undefined): Map<string, string> {
  const list = Array.isArray(reply) ? reply.map(String) : [];
  return new Map(list.flatMap((name, i) => (i % 2 === 0 ? [[name, list[i + 1] ?? '']] : [])));
}

function byVotes(opinions: readonly Opinion[]): NodeAddress[] {
  const votes = new Map<string, { address: NodeAddress; count: number }>();
  for (const { primary } of opinions) {
    if (primary === undefined) continue;
    const vote = votes.get(nameOf(primary)) ?? { address: primary, count: 0 };
    votes.set(nameOf(primary), { ...vote, count: vote.count + 1 });
  }
  return [...votes.values()].sort((a, b) => b.count - a.count).map(({ address }) => address);
}
