import type { RateLimiter } from '@sluice/core';
import type { Answer, Model } from './model.js';

/** A model with a limit of tokens a minute for each user. */
export class MeteredModel {
  /** @param report gets errors of the counting, which no caller sees */
  constructor(
    readonly model: Model,
    readonly limiter: RateLimiter,
    readonly report: (error: Error) => void,
  ) {}

  /** @throws RateLimitExceededError when the user has not enough left; what the model throws */
  async complete(user: string, prompt: string, maxTokens: number): Promise<Answer> {
    const reservation = await this.limiter.reserve(user, estimate(prompt) + maxTokens);
    let answer: Answer;
    try {
      answer = await this.model.complete(prompt, maxTokens);
    } catch (error) {
      // Should this fail as well, the tokens stay spent for a minute; the caller gets the model's error.
      await reservation.cancel().catch(this.report);
      throw error;
    }
    // The answer is there and paid for, so it is given, also when the store is out: then the estimate stays spent.
    await reservation.settle(answer.tokens).catch(this.report);
    return answer;
  }
}

/** Rather too much: English has about four characters a token, others fewer. */
const estimate = (prompt: string): number => Math.ceil(prompt.length / 3);
