import { main } from './main.js';

// What bin/sluice.mjs does with the build, for tests that start the sources.
void main(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});
