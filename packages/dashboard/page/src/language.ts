// uPlot formats numbers for `navigator.language` as soon as it loads, and throws if that is no language tag: in an environment without a
// locale Chromium has `en-US@posix`.
try {
  Intl.getCanonicalLocales(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en' });
}
