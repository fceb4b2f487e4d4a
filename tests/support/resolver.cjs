/** Sources name the file that will exist, x.js; where there is none (never in node_modules) it is x.ts. */
const ALIASES = { '.js': ['.ts', '.js'], '.cjs': ['.cts', '.cjs'] };

/** Jest remembers what a resolver finds, for all test files; but not what `moduleNameMapper` does. */
module.exports = (request, options) =>
  options.defaultResolver(
    request,
    options.basedir.includes('node_modules') ? options : { ...options, extensionAlias: ALIASES },
  );
