// `require('@sluice/express')` is `rateLimit` itself with all exports on it, like the module of express-rate-limit.
const exported = require('./dist/cjs/index.js');

module.exports = exported.rateLimit;
module.exports.default = exported.rateLimit;
module.exports.rateLimit = exported.rateLimit;
module.exports.rateLimitErrors = exported.rateLimitErrors;
module.exports.requestContext = exported.requestContext;
module.exports.ipKeyGenerator = exported.ipKeyGenerator;
Object.defineProperty(module.exports, '__esModule', { value: true });
