// Stands in for kafkajs: consumers run kafkajs's own loop over partitions in memory, in the place of the group and its brokers.

// @ts-nocheck: kafkajs has no types for its inside; the recipe is checked against its public types in `types.deep.test.ts`
import { EventEmitter } from 'node:events';
import Batch from 'kafkajs/src/consumer/batch.js';
import Runner from 'kafkajs/src/consumer/runner.js';
import printing from 'kafkajs/src/loggers/console.js';
import loggers from 'kafkajs/src/loggers/index.js';

/** Messages by partition: the key and the value of each. */
const PARTITIONS = [
  Array.from({ length: 12 }, (_, i) => ['acme', `a${i}`]),
  Array.from({ length: 3 }, (_, i) => ['globex', `g${i}`]),
  [['', 'without a key']],
];

/** What the loop calls of a consumer group: it fetches from the offset after the last resolved one, and nothing of a paused partition. */
class Group {
  groupId = 'mail';
  memberId = 'one';
  next = PARTITIONS.map(() => 0);
  paused = new Set();
  connect = async () => {};
  joinAndSync = async () => {};
  leave = async () => {};
  heartbeat = async () => {};
  getNodeIds = () => [1];
  hasSeekOffset = () => false;
  isPaused = (_, partition) => this.paused.has(partition);

  pause([{ partitions }]) {
    for (const one of partitions) this.paused.add(one);
    console.log('paused', ...partitions);
  }

  resume([{ partitions }]) {
    for (const one of partitions) this.paused.delete(one);
  }

  resolveOffset({ partition, offset }) {
    this.next[partition] = Number(offset) + 1;
  }

  commitOffsets = async () => console.log('committed', ...this.next);

  async fetch() {
    await new Promise((done) => setTimeout(done, 5));
    return PARTITIONS.flatMap((messages, partition) => {
      const from = this.next[partition];
      if (this.paused.has(partition) || from === messages.length) return [];
      const found = messages.slice(from).map(([key, value], i) => ({
        offset: String(from + i),
        key: Buffer.from(key),
        value: Buffer.from(value),
      }));
      const data = {
        partition,
        highWatermark: String(messages.length),
        messages: found,
        abortedTransactions: [],
      };
      return [new Batch('mail', String(from), data)];
    });
  }
}

export class Kafka {
  consumer = () => {
    const runners = [];
    return {
      connect: async () => {},
      subscribe: async () => {},
      run: async ({ partitionsConsumedConcurrently: concurrency, ...options }) => {
        const logger = loggers.createLogger({ level: loggers.LEVELS.WARN, logCreator: printing });
        const runner = new Runner({
          ...{ ...options, concurrency, logger, consumerGroup: new Group() },
          instrumentationEmitter: new EventEmitter(),
          onCrash: (error) => console.log('crashed', error),
        });
        runners.push(runner);
        await runner.start();
      },
      disconnect: () => Promise.all(runners.map((runner) => runner.stop())),
    };
  };
}
