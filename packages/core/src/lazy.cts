// Packages that few programs need. CommonJS in both builds, because only `require` loads a package late and without a promise.
export = {
  /** In `try`, so that bundlers accept that it is not installed. */
  fleet(): { readonly exports: unknown } | { readonly cause: unknown } {
    try {
      return { exports: require('@sluice/fleet/internal') };
    } catch (cause) {
      return { cause };
    }
  },
  jsonPath: (): typeof import('jsonpath-plus').JSONPath => require('jsonpath-plus').JSONPath,
};
