/** The words of the picture on the home page, in each language of the site. */
export const WORDS = {
  en: {
    picture:
      'A running limit. Requests fall on a gate with six openings, one for each permit. A request that finds an opening takes it and passes. When none is open, requests bounce off: they get a 429.',
    passed: 'passed',
    denied: 'denied',
    play: 'Play',
    pause: 'Pause',
    link: 'Try other numbers',
    playground: '/playground.html',
  },
  zh: {
    picture:
      '运行中的限流：请求落向一道有六个开口的闸门，每个开口代表一个许可。找到开口的请求占用它并通过；没有开口时，请求被弹回，得到 429。',
    passed: '通过',
    denied: '被拒绝',
    play: '播放',
    pause: '暂停',
    link: '换一组数字试试',
    playground: '/zh/playground.html',
  },
} as const;
