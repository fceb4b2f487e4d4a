import { performance } from '#platform';
import type { Script } from '../../algorithms/algorithm.js';
import { decideScript } from '../../engine/decide.script.js';
import { setTimeout } from '../../runtime.js';
import { STORE_CALL } from '../../telemetry/channels.js';
import type { Store } from '../store.js';
import { type Batch, bySlot, type KeyGroup } from './batch.js';
import { inOneWrite, isReady, type RedisClient, runScript, type Write } from './client.js';
import { warnOfDeclaredKeys } from './client-settings.js';
import { storeClosed } from './errors.js';
import { answerCalls, Numbers } from './reply.js';
import type { Session } from './session.js';
import { refusesUndeclared, undeclared, wasNotRun, written } from './wire.js';

/** ms that a store waits for answers when it closes: some calls have a long deadline, and some have none. */
const LONGEST = 5_000;
/** ms between two looks whether calls still wait. */
const EVERY = 5;

/** Sends a store's scripts: the calls of a batch together, and single ones. */
export class Sender {
  /** Were there calls since it was last set to false? */
  used = false;
  /** Does the cluster refuse keys that are not declared, as some proxies do? Then each slot has its own script call. */
  declares = false;
  /**
   * The script calls that have no reply yet. Not a Set: V8 links the tables that a Set outgrows, and so dead calls keep those after them.
   * That doubled the CPU of a call.
   */
  readonly #underWay: Pick<Batch, 'isOver' | 'failed'>[] = [];
  #closed = false;

  /**
   * @param store for messages
   * @param met called when the first script is on its way
   */
  constructor(
    private readonly store: Pick<Store, 'name' | 'health'>,
    private readonly session: Session,
    private readonly met: () => void,
  ) {}

  /** Sends several batches. @param arrived called once for each of them, before its calls resolve */
  sendAll(batches: readonly Batch[], arrived: () => void): void {
    inOneWrite(this.session.client, () => {
      for (const batch of batches) this.send(batch, arrived);
    });
  }

  /**
   * @param arrived called when the reply is there, before the calls resolve
   * @param now replaces the server's clock
   */
  send(batch: Batch, arrived = () => {}, now?: number): void {
    // Calls that are sent again were made before.
    if (this.#closed && batch.whole === undefined) {
      // In a microtask: the calls that it gathers are not all in it yet.
      queueMicrotask(() => {
        arrived();
        batch.failed(storeClosed(this.session.maker));
      });
      return;
    }
    const node = batch.node === undefined || this.declares ? undefined : this.#readyNode(batch.key);
    if (batch.node !== undefined && node === undefined) {
      this.#sendDeclared(batch, bySlot(batch.groups), arrived);
      return;
    }
    this.used = true;
    this.#underWay.push(batch);
    const { client } = this.session;
    const message = STORE_CALL.hasSubscribers ? new StoreCall(this.store, batch) : undefined;
    const write = (bytes: boolean) => {
      if (batch.hasEnded && !batch.forget()) return undefined;
      batch.sent = true;
      if (batch.whole !== undefined) batch.whole.sent = true;
      message?.sent();
      const call = written(batch, now, bytes);
      return node === undefined ? call : undeclared(call, client?.options?.keyPrefix ?? '');
    };
    const replied =
      node === undefined ? this.#run(decideScript, batch, write) : this.runOn(node, decideScript, write);
    replied.then(
      (reply) => {
        arrived();
        message?.ended();
        try {
          const { undecided, refusal } = answerCalls(batch.groups, new Numbers(reply, this.session.maker));
          if (refusal !== undefined) this.#declareKeys(refusal);
          // One by one: a key whose slot is moving would hold up the others of its slot.
          const parts = undecided.map((group) => [group]);
          if (parts.length > 0) this.#sendDeclared(batch, parts);
          else batch.end();
        } catch (error) {
          batch.failed(this.session.errorOf(error, batch.key));
        }
        this.#underWay.splice(this.#underWay.indexOf(batch), 1);
      },
      (error) => {
        arrived();
        const failure = this.session.errorOf(error, batch.key, !batch.sent);
        message?.ended(failure);
        if (node !== undefined && wasNotRun(error)) {
          if (refusesUndeclared(error)) this.#declareKeys(String((error as Error).message));
          this.#sendDeclared(batch, bySlot(batch.groups));
        } else {
          batch.failed(failure);
        }
        this.#underWay.splice(this.#underWay.indexOf(batch), 1);
      },
    );
  }

  /** Refuses new calls. Resolves when no call waits for a reply any more. */
  async close(): Promise<void> {
    this.#closed = true;
    const end = performance.now() + LONGEST;
    const waiting = () => this.#underWay.filter((trip) => !trip.isOver());
    while (waiting().length > 0 && performance.now() < end)
      await new Promise((resolve) => setTimeout(resolve, EVERY));
    for (const trip of waiting()) trip.failed(storeClosed(this.session.maker, false));
  }

  /**
   * Sends each part with declared keys: the client follows a key that has moved. Nothing was written for these calls.
   * @param arrived called when all replies are there
   */
  #sendDeclared(batch: Batch, parts: readonly (readonly KeyGroup[])[], arrived = () => {}): void {
    let waiting = parts.length;
    const oneArrived = () => {
      waiting -= 1;
      if (waiting === 0) arrived();
    };
    for (const one of batch.apart(parts)) this.send(one, oneArrived);
  }

  #declareKeys(refusal: string): void {
    this.declares = true;
    warnOfDeclaredKeys(this.session.address, refusal);
  }

  /** The connection to the node of a key, if it can be used now. */
  #readyNode(key: string): RedisClient | undefined {
    const { client, watch } = this.session;
    const node = client && watch?.connectionFor(key);
    return node !== undefined && isReady(node) ? node : undefined;
  }

  /**
   * Sends at once if there is a connection: a call that is sent alone then needs no further promise.
   * @param keyed has one of the script's keys
   */
  #run(script: Script, keyed: { readonly key: string }, write: Write): Promise<unknown> {
    const { client, watch } = this.session;
    const isOpen = client !== undefined && isReady(client) && watch!.misplaced === undefined;
    if (!isOpen || (client.isCluster && !isReady(watch!.connectionFor(keyed.key) ?? client))) {
      return this.session.connected(keyed.key).then((opened) => this.runOn(opened, script, write));
    }
    return this.runOn(client, script, write);
  }

  /**
   * @param isOver has its caller given up?
   * @throws StoreUnavailableError, StoreConfigurationError
   */
  async runKey(script: Script, key: string, write: Write, isOver = () => false): Promise<unknown> {
    if (this.#closed) throw storeClosed(this.session.maker);
    const trip = { isOver, failed: () => {} }; // it fails with its connection
    this.#underWay.push(trip);
    try {
      return await this.#run(script, { key }, write);
    } catch (error) {
      throw this.session.errorOf(error, key);
    } finally {
      this.#underWay.splice(this.#underWay.indexOf(trip), 1);
    }
  }

  runOn(client: RedisClient, script: Script, write: Write): Promise<unknown> {
    try {
      const reply = runScript(client, script, write);
      if (!this.session.met) {
        this.session.meet(client, reply);
        this.met();
      }
      return reply;
    } catch (error) {
      return Promise.reject(error);
    }
  }
}

/** Publishes one script call once its reply is there, or once it has failed; created only if anyone subscribes. */
class StoreCall {
  #calls: number;
  #startedAt = performance.now();
  #sent = false;

  constructor(
    readonly store: Pick<Store, 'name' | 'health'>,
    readonly batch: Batch,
  ) {
    this.#calls = callsOf(batch);
  }

  /** The script is being sent, perhaps after a connection was opened; a second time with its text, if the server does not know it. */
  sent(): void {
    if (this.#sent) return;
    this.#sent = true;
    this.#calls = callsOf(this.batch);
    this.#startedAt = performance.now();
  }

  ended(error?: unknown): void {
    STORE_CALL.publish({
      store: this.store.name,
      address: this.store.health?.address(),
      node: this.batch.node,
      calls: this.#calls,
      startedAt: this.#startedAt,
      endedAt: performance.now(),
      error,
    });
  }
}

/** Some of its calls may have ended since the batch was made. */
const callsOf = ({ groups }: Batch): number => groups.reduce((sum, { calls }) => sum + calls.length, 0);
