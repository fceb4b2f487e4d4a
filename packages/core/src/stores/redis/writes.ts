import type { RedisClient } from './client.js';

/** What an ioredis client writes its commands to. */
interface Stream {
  cork(): void;
  uncork(): void;
}

/** What an ioredis Cluster tells of its connections; other clients have none to tell of, and their commands leave as they come. */
interface Connections {
  nodes?(role: 'master'): readonly { readonly stream?: Partial<Stream> | undefined }[];
}

/** Lets commands leave together, in one write for each node of a cluster: to write to a socket costs as much as all the rest of a command. */
export function together(client: RedisClient | undefined, commands: () => void): void {
  const streams = ((client as Connections | undefined)?.nodes?.('master') ?? [])
    .map(({ stream }) => stream)
    .filter((stream): stream is Stream => typeof stream?.cork === 'function');
  for (const stream of streams) stream.cork();
  try {
    commands();
  } finally {
    for (const stream of streams) stream.uncork();
  }
}
