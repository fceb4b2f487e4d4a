/** The words of the plots, in each language of the pages. */
export const WORDS = {
  en: {
    calls: 'calls',
    passed: 'passed',
    passedOf: (passed: number, calls: number) => `${passed} of ${calls} calls`,
    busiest: (count: number) => `busiest 10 s: ${count}`,
    callsAdded: 'calls, added up',
    bound: 'upper bound',
    title: (passed: number, calls: number, count: number) =>
      `${passed} of ${calls} calls passed, at most ${count} in any 10 s`,
    notes: { waits: 'calls wait (acquire)', holds: 'each call takes 2 s' },
    storeCalls: 'calls of the store for 100 decisions (100: without)',
    idlePermits: (limit: string) => `most permits idle at one time, of ${limit}`,
    processes: 'processes',
    asked: (part: string) => `asked: ${part}`,
    ofTheLimit: 'of the limit, all processes together',
    fleetTitle: (least: number, most: number) =>
      `calls of the store and idle permits for ${least} to ${most} processes`,
  },
  zh: {
    calls: '调用',
    passed: '通过',
    passedOf: (passed: number, calls: number) => `${calls} 次调用通过 ${passed} 次`,
    busiest: (count: number) => `最多的 10 秒：${count} 次`,
    callsAdded: '累计调用',
    bound: '上限',
    title: (passed: number, calls: number, count: number) =>
      `${calls} 次调用通过 ${passed} 次，任意 10 秒内最多 ${count} 次`,
    notes: { waits: '调用等待（acquire）', holds: '每次调用用时 2 秒' },
    storeCalls: '每 100 次判定对存储的调用次数（不使用时为 100）',
    idlePermits: (limit: string) => `同一时刻最多闲置的许可，共 ${limit} 个`,
    processes: '进程数',
    asked: (part: string) => `请求量：${part}`,
    ofTheLimit: '占额度的比例，所有进程合计',
    fleetTitle: (least: number, most: number) => `${least} 到 ${most} 个进程对存储的调用次数和闲置的许可`,
  },
} as const;

export type Words = (typeof WORDS)[keyof typeof WORDS];
