import { performance } from 'node:perf_hooks';
import type { DoctorNode } from './node.js';

const MOST = 50;
const LONGEST_MS = 500;

/** Reads the time of a server repeatedly, one call at a time, to measure its clock and the round trip. */
export async function measure(node: DoctorNode): Promise<void> {
  const end = performance.now() + LONGEST_MS;
  for (let i = 0; i < MOST && performance.now() < end; i += 1) {
    const [sent, began] = [Date.now(), performance.now()];
    const reply = await node.ask('the time of the server', 'TIME');
    const [received, ended] = [Date.now(), performance.now()];
    if (reply === undefined) return;
    const [seconds, micros] = (reply as string[]).map(Number);
    node.moments.push({
      sent,
      received,
      server: seconds! * 1_000 + micros! / 1_000,
      roundTrip: ended - began,
    });
  }
}
