import { openLimiter } from '@sluice/fleet';
import { CHANGE_OPTIONS, confirmed } from '../change.js';
import type { CommandDefinition } from '../command.js';
import { fleetOf } from '../fleet.js';
import { quoted, shownKey } from '../text.js';
import { concerning, pauseJson, pauseSentences, upstreamNamed, upstreamsOf } from '../upstreams.js';

export const resume: CommandDefinition = {
  name: 'resume',
  arguments: [
    ['<upstream>', 'the name of an upstream of @sluice/outgoing'],
    ['[scope]', 'what is paused, as `sluice ls` shows it; default: all that is paused of the upstream'],
  ],
  options: CHANGE_OPTIONS.filter(({ flags }) => flags === '--yes'),
  summary: 'end the pauses of an upstream',
  description:
    'Ends the pauses of an upstream, or of one scope, for all processes. One call goes first; others follow when it has succeeded. Says ' +
    'what is paused, asks before it changes anything, and exits with 1 if nothing was changed.',
  example: [
    'resume github',
    "Paused: upstream 'github' gets no calls until 14:03:05, in 42 s.\n  overload: HTTP 503. shop-1:4711 got status 503, with retry-after at 14:02:05.",
  ],
  writes: true,
  async run(context, [name = '', scope], options) {
    const { output } = context;
    const found = upstreamNamed(await upstreamsOf(context, await fleetOf(context)), name);
    const isMeant = ({ key }: { readonly key: string }) => scope === undefined || key === scope;
    const known = found.flatMap((one) => one.pauses);
    const pauses = known.filter((pause) => isMeant(pause) && pause.stored);
    for (const pause of known.filter(isMeant)) {
      const [answer, ...reasons] = pauseSentences(pause);
      output.say(answer);
      for (const reason of reasons) output.say(reason, '  ');
    }
    if (pauses.length === 0) {
      const others = concerning(known, scope).filter(({ stored }) => stored);
      const of = scope === undefined ? `upstream '${name}'` : `'${shownKey(scope)}' of upstream '${name}'`;
      output.say(`No pause of ${of} is in the store.`);
      for (const { key } of others) output.say(`To end another: sluice resume ${name} ${quoted(key)}`);
      output.json({ upstream: name, scope, done: false });
      return 1;
    }
    const what = pauses.length === 1 ? `'${shownKey(pauses[0]!.key)}'` : `${pauses.length} scopes`;
    if (options.yes !== true && !(await confirmed(context, `Resume ${what} of '${name}'?`))) {
      output.say('Nothing was changed.');
      return 1;
    }
    for (const pause of pauses) {
      const limiter = openLimiter(context.store, pause.limiter);
      try {
        await context.ask(limiter.unblock(pause.key));
      } finally {
        await limiter.close();
      }
      output.json({ ...pauseJson(pause), done: true });
      output.say(
        output.style('green', `'${shownKey(pause.key)}' of '${name}' is resumed: one call goes first.`),
      );
    }
    return 0;
  },
};
