/** A terminal after a command. */
export interface Screen {
  readonly name: string;
  /** The arguments of `sluice`. `STORE` is the store of the demo, `OTHER` another file. */
  readonly command: string;
  /** The answer to the confirmation. Without one, a command that does not end by itself is ended by Ctrl-C. */
  readonly answer?: 'y' | 'n';
}

const COUNT = 'countLimit:LimiterController.count';
const FILES = 'examples/simulate';

/** The replay of the page of `sluice simulate`. */
export const SIMULATE = `simulate --rules ${FILES}/next.yaml --against ${FILES}/limits.yaml ${FILES}/access.log`;

/** The commands, confirmations and errors, in an order in which each has something to show. */
export const SCREENS: readonly Screen[] = [
  { name: 'help', command: 'help' },
  { name: 'help-explain', command: 'help explain' },
  { name: 'status', command: 'status --store STORE' },
  { name: 'ls', command: 'ls --store STORE' },
  { name: 'ls-processes', command: 'ls --processes --store STORE' },
  { name: 'explain', command: 'explain hello 127.0.0.1 --store STORE' },
  { name: 'explain-allowed', command: 'explain hello 10.0.0.1 --store STORE' },
  { name: 'inspect', command: 'inspect 127.0.0.1 --store STORE' },
  { name: 'top', command: 'top --store STORE' },
  { name: 'tail', command: 'tail --count 6 --store STORE' },
  { name: 'stats', command: 'stats --store STORE' },
  { name: 'watch', command: 'watch --store STORE' },
  { name: 'watch-key', command: 'watch 127.0.0.1 --store STORE' },
  { name: 'dashboard', command: 'dashboard --port 0 --store STORE' },
  { name: 'doctor', command: 'doctor --store STORE' },
  { name: 'check', command: 'check examples/rules-express/limits.yaml' },
  { name: 'push', command: `push ${FILES}/limits.yaml --store STORE`, answer: 'y' },
  { name: 'diff', command: `diff ${FILES}/next.yaml --store STORE` },
  { name: 'push-next', command: `push ${FILES}/next.yaml --store STORE`, answer: 'y' },
  { name: 'rollback', command: 'rollback --store STORE', answer: 'y' },
  { name: 'rules', command: 'rules --store STORE' },
  { name: 'simulate', command: SIMULATE },
  {
    name: 'override',
    command: `override user-1 limit=50 --for 1h --limiter ${COUNT} --store STORE`,
    answer: 'y',
  },
  { name: 'block', command: `block user-2 --for 1h --limiter ${COUNT} --store STORE`, answer: 'y' },
  { name: 'unblock', command: `unblock user-2 --limiter ${COUNT} --store STORE`, answer: 'y' },
  // The demo calls no other service.
  { name: 'resume-none', command: 'resume github --store STORE' },
  { name: 'reset-no', command: `reset 127.0.0.1 --limiter hello --store STORE`, answer: 'n' },
  { name: 'reward', command: `reward 127.0.0.1 1 --limiter hello --store STORE`, answer: 'y' },
  { name: 'penalty', command: `penalty 127.0.0.1 1 --limiter hello --store STORE`, answer: 'y' },
  { name: 'copy', command: 'copy --from STORE --to OTHER --dry-run' },
  {
    name: 'serve',
    command: 'serve examples/rules-express/limits.yaml --store memory: --port 0 --grpc-port 0',
  },
  { name: 'error-no-key', command: 'explain' },
  { name: 'error-no-command', command: 'explian login ann' },
  { name: 'error-no-limiter', command: 'explain logn ann --store STORE' },
  { name: 'error-no-store', command: 'ls --store redis://127.0.0.1:1' },
];
