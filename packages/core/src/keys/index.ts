export { type ClientIpOptions, clientIp } from './client-ip.js';
export { compileKey, type KeyScope, type KeyTemplate } from './key-expression.js';
export { keyPart } from './key-part.js';
export { LimitType, parseLimitType } from './limit-type.js';
export { detach, encodeKey, encodePart } from './redis-key.js';
