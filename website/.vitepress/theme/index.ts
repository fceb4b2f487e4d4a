import { type Theme, useData } from 'vitepress';
import DefaultTheme, { VPFeatures } from 'vitepress/theme';
import { defineAsyncComponent, h } from 'vue';
import '../../playground/style.css';
import '../../home/style.css';
import Mark from './Mark.vue';
import './brand.css';

// Only pages with a drawing load the core.
const Playground = defineAsyncComponent(() => import('../../playground/Playground.vue'));
const Algorithm = defineAsyncComponent(() => import('../../playground/Algorithm.vue'));
const RunningLimit = defineAsyncComponent(() => import('../../home/RunningLimit.vue'));

export default {
  extends: DefaultTheme,
  Layout: () =>
    h(DefaultTheme.Layout, null, {
      'nav-bar-title-before': () => h(Mark),
      'home-hero-image': () => h(RunningLimit),
    }),
  enhanceApp({ app }) {
    app.component('Playground', Playground);
    app.component('Algorithm', Algorithm);
    // The cards of a home page that shows something before them: the front matter's `cards`.
    app.component('HomeCards', () => h(VPFeatures, { features: useData().frontmatter.value.cards }));
  },
} satisfies Theme;
