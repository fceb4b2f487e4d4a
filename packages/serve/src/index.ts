export { type ServedRules, type ServeOptions, serve } from './serve.js';
