import { defineConfig } from 'vite';

export default defineConfig({
  base: './',
  logLevel: 'warn',
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact', legalComments: 'none' },
  build: {
    target: 'es2022',
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    rollupOptions: { output: { entryFileNames: 'page.js', assetFileNames: 'page.[ext]' } },
  },
});
