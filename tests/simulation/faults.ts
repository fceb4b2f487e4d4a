import type { World } from './world.js';

const MS = 1000;

/** What can happen to a fleet. Each ends by itself. */
const FAULTS: Readonly<Record<string, (world: World) => void>> = {
  'messages are slow': (world) => {
    const { latency } = world;
    world.latency = (20 + world.dice(180)) * MS;
    after(world, 100 + world.dice(700), () => {
      world.latency = Math.min(latency, 800);
    });
  },
  'messages are lost': (world) => {
    world.lossy = 0.05 + world.random() / 2;
    after(world, 50 + world.dice(600), () => {
      world.lossy = 0;
    });
  },
  'a connection is reset': (world) => {
    const { connection, process } = world.pick(world.members);
    if (!process.killed) connection.reset('by peer');
  },
  'the server is frozen': (world) => world.server.freeze((50 + world.dice(800)) * MS),
  'the server is gone': (world) => {
    world.server.up = false;
    resetAll(world);
    after(world, 50 + world.dice(800), () => {
      world.server.up = true;
    });
  },
  'the table is emptied': (world) => {
    world.server.restart(new Map());
    resetAll(world);
  },
  'a replica that is behind takes over': (world) => {
    const replica = world.server.snapshot();
    after(world, world.dice(300), () => {
      world.server.restart(replica);
      world.server.jump((world.dice(200) - 100) * MS);
      resetAll(world);
    });
  },
  "the server's clock jumps": (world) => {
    world.server.jump((world.dice(2) === 0 ? -1 : 1) * (1 + world.dice(5_000)) * MS);
  },
  'a process is frozen': (world) => {
    const { process } = world.pick(world.members);
    process.freeze((50 + world.dice(1_500)) * MS);
  },
  'a process is killed': (world) => {
    if (world.alive.length < 3) return;
    const { process, connection } = world.pick(world.alive);
    process.kill();
    after(world, world.dice(5), () => connection.reset('the process was killed'));
  },
};

function after(world: World, ms: number, then: () => void): void {
  const { scheduler } = world;
  scheduler.at(scheduler.now + ms * MS, then);
}

function resetAll(world: World): void {
  for (const { connection } of world.alive) connection.reset('by the server');
}

/** Lets some faults happen before `until`, µs. */
export function plan(world: World, until: number): void {
  const names = Object.keys(FAULTS);
  for (let left = world.dice(6); left > 0; left -= 1) {
    const name = world.pick(names);
    world.scheduler.at(world.dice(until), () => {
      world.story.note('fault', name);
      FAULTS[name]!(world);
    });
  }
}
