import type { Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme';
import { defineAsyncComponent } from 'vue';
import '../../playground/style.css';

export default {
  extends: DefaultTheme,
  // Only pages with a drawing load the core.
  enhanceApp({ app }) {
    app.component(
      'Playground',
      defineAsyncComponent(() => import('../../playground/Playground.vue')),
    );
    app.component(
      'Algorithm',
      defineAsyncComponent(() => import('../../playground/Algorithm.vue')),
    );
  },
} satisfies Theme;
