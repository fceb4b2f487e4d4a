// A dependency that few programs need. CommonJS in both builds, because only `require` loads a package late and without a promise.
export = {
  negotiator: (): typeof import('negotiator') => require('negotiator'),
};
