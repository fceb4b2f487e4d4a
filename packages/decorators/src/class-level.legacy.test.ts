import { fixedWindow } from '@sluice/core';
import { classSuite } from '../tests/class-suite.js';
import { tag } from '../tests/limit-suite.js';
import { CountLimit, Limit, RateLimit, SkipLimit } from './index.js';

@CountLimit({ period: 60 })
class OfClass {
  readonly runs: string[] = [];
  readonly arrow = () => 'arrow';

  #run(name: string): string {
    this.runs.push(name);
    return name;
  }

  #secret() {
    return 'secret';
  }

  async list() {
    return this.#run('list');
  }

  async find(id: string) {
    return this.#run(`find ${id}`);
  }

  @CountLimit({ limit: 2, period: 60 })
  async own() {
    return this.#run('own');
  }

  @RateLimit({ rate: 5 })
  async both() {
    return this.#run('both');
  }

  @SkipLimit()
  skipped() {
    return this.#run('skipped');
  }

  plain() {
    return this.#run('plain');
  }

  @tag
  async tagged(text: string, times: number): Promise<unknown[]> {
    return [this, text, times];
  }

  get size() {
    return 1;
  }

  @SkipLimit()
  secret() {
    return this.#secret();
  }

  toJSON() {
    return 'json';
  }

  toString() {
    return 'text';
  }

  *[Symbol.iterator]() {
    yield 1;
  }

  static atClass() {
    return 'atClass';
  }
}

class Derived extends OfClass {
  override async list() {
    return super.list();
  }

  override async find(id: string) {
    return id;
  }
}

@Limit({ policy: fixedWindow({ limit: 1, window: '1m' }), prefix: 'shared', limitType: 'IP' })
class Shared {
  async a() {}
  async b() {}
}

@CountLimit({ period: 60 })
@CountLimit({ limit: 2, period: 86_400, prefix: 'day' })
class Twice {
  // Nobody else makes one: a class whose constructor is not public can be decorated, too.
  private constructor() {}
  static make = () => new Twice();
  async a() {}
  async b() {}
}

describe('legacy decorators', () => classSuite({ OfClass, Derived, Shared, makeTwice: Twice.make }));
