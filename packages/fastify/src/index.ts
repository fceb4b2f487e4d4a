export {
  type RateLimitHook,
  type RateLimitOptions,
  type RateLimitPluginOptions,
  rateLimit,
  rateLimit as default,
} from './plugin.js';
