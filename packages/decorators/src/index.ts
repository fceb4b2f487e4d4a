export { LimitType } from '@sluice/core';
export { closeSluice, configureSluice, createSluice, SLUICE } from './configuration.js';
export { CountLimit, type CountLimitOptions } from './count-limit.js';
export type { CommonOptions } from './limit.js';
export type { MethodDecorator } from './method-decorator.js';
export { RateLimit, type RateLimitOptions } from './rate-limit.js';
export type { Sluice, SluiceOptions } from './sluice.js';
