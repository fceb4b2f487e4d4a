import { defineConfig } from 'vite';

/** Writes which packages have code in the page: their notices ship with it. */
const packagesOfPage = {
  name: 'packages-of-page',
  generateBundle(_options, files) {
    const modules = Object.values(files).flatMap((file) => Object.keys(file.modules ?? {}));
    const names = modules.flatMap((path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
    this.emitFile({
      type: 'asset',
      fileName: 'packages.json',
      source: JSON.stringify([...new Set(names)].sort()),
    });
  },
};

export default defineConfig({
  base: './',
  logLevel: 'warn',
  plugins: [packagesOfPage],
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact', legalComments: 'none' },
  build: {
    target: 'es2022',
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    rollupOptions: { output: { entryFileNames: 'page.js', assetFileNames: 'page.[ext]' } },
  },
});
