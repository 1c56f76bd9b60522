import type { GuardVerdict } from '../../../core/kernel/index.ts';
import type { PluginWords } from '../../../plugin/index.ts';

/** Decisions of guards for `gatehouse explain`. */
export function wordsOf(verdicts: readonly GuardVerdict[] | undefined): PluginWords | undefined {
  if (!verdicts || verdicts.length === 0) return undefined;
  const does = verdicts.map(({ guard, on, verdict, matches }) => {
    const count = matches > 0 ? ` (${matches} ${matches === 1 ? 'match' : 'matches'})` : '';
    return `${guard} on ${on}: ${verdict}${count}`;
  });
  return { does: does.join(', '), details: { guards: verdicts } };
}
