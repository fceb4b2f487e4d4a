// Packages that few programs need. CommonJS in both builds, because only `require` loads a package late and without a promise.
export = {
  fleet: (): unknown => require('@sluice/fleet/internal'),
  jsonPath: (): typeof import('jsonpath-plus').JSONPath => require('jsonpath-plus').JSONPath,
};
