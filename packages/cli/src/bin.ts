import { main } from './main.js';

// Like bin/sluice.mjs, but for tests that start the sources instead of the build.
void main(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});
