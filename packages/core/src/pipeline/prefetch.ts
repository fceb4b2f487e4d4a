import { type Answer, type Call, storageKey } from '../engine/call.js';
import { andThen, type MaybePromise } from '../maybe-promise.js';
import type { Asked, Store } from '../stores/store.js';
import { around } from './around.js';
import { type Asking, ask, pass } from './asking.js';
import { alike, isDegraded, type StandInAnswer } from './fallback-answer.js';
import { backOf, giveBack, type Stock } from './permit-pool.js';
import { stockOf, stocksOf } from './permit-pools.js';
import { type PolicyPart, policyParts } from './policy-limit.js';

/** Clocks of two machines do not go alike: one part in so many of the time for which a permit may be spent is left out. */
const DRIFT = 1000;

/**
 * A store of which permits are taken ahead, a block at a time, where a limit allows that: calls are answered here for as long as the block
 * lasts. No call is denied while its permits are here, and what is asked of the store in another way than by `consume` of a single part
 * finds there what was left here.
 */
export function withPrefetch(store: Store): Store {
  if (!store.remote) return store;
  const { clock } = store;
  const by = around(store, { name: 'prefetch' });

  const spent = (stock: Stock, cost: number): StandInAnswer | undefined => stock.spend(cost, clock.now(), by);

  /** A denial, unless the permits have come here meanwhile, or could be had with those that are here. */
  const denied = async (stock: Stock, call: Call, answer: Answer, asked: Asked): Promise<Answer> => {
    if (stock.taking !== undefined) await inTime(asked, stock.taking);
    const here = spent(stock, call.parts[0]!.cost);
    if (here !== undefined || stock.left(clock.now()) === 0) return here ?? answer;
    await inTime(asked, stock.empty(clock));
    return asked.budget?.over ? answer : store.decide(call, asked);
  };

  /** Runs all steps of a call here within the time of one call. */
  const staged = async <T>(asked: Asked | undefined, work: (own: Asked) => MaybePromise<T>): Promise<T> => {
    const budget = asked?.budget ?? store.budget?.();
    const own: Asked = {
      get abandoned() {
        return asked?.abandoned === true;
      },
      deadline: asked?.deadline,
      budget,
    };
    try {
      return await work(own);
    } finally {
      budget?.end();
    }
  };

  /** Asks for what the call needs and for `ahead` permits more. What was left here is less than it needs, and goes back. */
  const take = async (
    stock: Stock,
    call: Call,
    part: PolicyPart,
    ahead: number,
    own: Asked,
  ): Promise<Answer> => {
    const asked = clock.now();
    const rest = stock.withdraw(asked);
    const back = rest && giveBack(rest, asked);
    const taken = { ...part, cost: part.cost + ahead };
    const taking = (async () => store.decide({ ...call, parts: [taken] }, own))();
    stock.expect(taking, ahead);
    let answer: Answer;
    try {
      answer = await taking;
    } finally {
      stock.expect(undefined, 0);
    }
    if (isDegraded(answer)) {
      if (answer.allowed) await answer.by.decide(backOf(taken, answer));
      return alike(answer, call);
    }
    if (!answer.allowed) {
      if (back !== undefined) await inTime(own, back);
      return plain(stock, call, part, own);
    }
    const life = lifeOf(part, answer);
    stock.learn(answer, life);
    if (ahead > 0) stock.put({ store, part, answer, asked, until: asked + life, left: ahead });
    const [said] = answer.parts;
    return { ...answer, parts: [{ ...said!, remaining: said!.remaining + ahead }] };
  };

  const plain = (stock: Stock, call: Call, part: PolicyPart, asked?: Asked): MaybePromise<Answer> =>
    andThen(store.decide(call, asked), (answer) => {
      if (!isDegraded(answer)) stock.learn(answer, lifeOf(part, answer));
      return answer;
    });

  /** Beside a block that is on its way. */
  const beside = (stock: Stock, call: Call, asked: Asked): MaybePromise<Answer> =>
    andThen(store.decide(call, asked), (answer) =>
      answer.allowed || isDegraded(answer) ? answer : denied(stock, call, answer, asked),
    );

  /**
   * A block that is on its way has enough for this call, too: it comes sooner than an answer of its own would. When it fails, so does this
   * call: to ask then would take the time of a second deadline.
   */
  const awaited = async (
    stock: Stock,
    call: Call,
    taking: Promise<Answer>,
    asked: Asked,
  ): Promise<Answer> => {
    asked.budget?.begin();
    const answer = await taking;
    if (isDegraded(answer)) return alike(answer, call);
    return spent(stock, call.parts[0]!.cost) ?? beside(stock, call, asked);
  };

  const consume = (stock: Stock, call: Call, part: PolicyPart, asked?: Asked): MaybePromise<Answer> => {
    const here = spent(stock, part.cost);
    if (here !== undefined) return here;
    const { taking } = stock;
    if (taking !== undefined) {
      return staged(asked, (own) =>
        stock.claim(part.cost) ? awaited(stock, call, taking, own) : beside(stock, call, own),
      );
    }
    const now = clock.now();
    const ahead = stock.next(now);
    if (ahead > 0 || stock.left(now) > 0) {
      return staged(asked, (own) => take(stock, call, part, ahead, own));
    }
    return plain(stock, call, part, asked);
  };

  const isHere = (stock: Stock): boolean => stock.taking !== undefined || stock.left(clock.now()) > 0;

  return around(store, {
    ask(asking: Asking) {
      const { call } = asking;
      if (policyParts(call).some(({ limit }) => limit.prefetch !== undefined)) {
        pass(() => this.decide(call, asking), asking);
      } else {
        ask(store, asking);
      }
    },
    decide(call: Call, asked?: Asked): MaybePromise<Answer> {
      const { operation } = call;
      const parts = policyParts(call);
      if (operation === 'refund' || operation === 'renew') return store.decide(call, asked);
      const part = parts[0]!;
      if (operation === 'consume' && parts.length === 1 && call.traced !== true) {
        if (part.limit.prefetch === undefined || part.cost === 0) return store.decide(call, asked);
        const stock = stocksOf(part.limit.prefetch).of(storageKey(part), clock);
        return stock === undefined ? store.decide(call, asked) : consume(stock, call, part, asked);
      }
      const stocks = parts.flatMap((each) => stockOf(each) ?? []).filter(isHere);
      if (stocks.length === 0) return store.decide(call, asked);
      const emptied = (own: Asked) =>
        inTime(own, Promise.all(stocks.map((stock) => stock.empty(clock, store))));
      if (operation === 'peek') {
        return andThen(store.decide(call, asked), (answer) => withStocks(call, answer, clock.now()));
      }
      return staged(asked, async (own) => {
        if (operation === 'consume') {
          const answer = await store.decide(call, own);
          if (answer.allowed || isDegraded(answer)) return answer;
          await emptied(own);
          return own.budget?.over ? answer : store.decide(call, own);
        }
        if (operation === 'reset') await inTime(own, Promise.all(stocks.map((stock) => stock.take(clock))));
        else await emptied(own);
        return store.decide(call, own);
      });
    },
  });
}

/** Waits for `others` while the call has time left. */
const inTime = async ({ budget }: Asked, others: Promise<unknown>): Promise<void> => {
  if (budget !== undefined) return budget.until(others);
  await others.catch(() => {}); // its own caller gets the error
};

/** µs for which permits that were taken with this answer may be spent. */
function lifeOf({ limit: { rule, prefetch } }: PolicyPart, { now, parts: [said] }: Answer): number {
  if (said!.override !== undefined) return 0;
  const parameters = rule.parametersAt?.(now) ?? rule.parameters;
  const spendable = rule.algorithm.spendable?.(parameters, now, said!.reset) ?? prefetch!.longest;
  const life = Math.min(spendable, prefetch!.longest);
  return life - Math.ceil(life / DRIFT);
}

/** What `consume` would say, with what is here. */
function withStocks(call: Call, answer: Answer, now: number): Answer {
  const told = policyParts(call).map((part, i) => {
    const said = answer.parts[i]!;
    const left = stockOf(part)?.left(now) ?? 0;
    return { ...said, remaining: said.remaining + left, wait: left >= part.cost ? 0 : said.wait };
  });
  const helps =
    told.some(({ wait }, i) => wait !== answer.parts[i]!.wait) && told.every(({ wait }) => wait === 0);
  return helps ? { ...answer, allowed: true, wait: 0, parts: told } : { ...answer, parts: told };
}
