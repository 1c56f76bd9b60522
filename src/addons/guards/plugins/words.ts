import type { Exchange } from '../../../core/kernel/index.ts';
import type { PluginWords } from '../../../plugin/index.ts';

export const holdsOf = new WeakMap<Exchange, Set<string>>();

/** Decisions of guards, and what waits for them, for `gatehouse explain`. */
export function wordsOf(exchange: Exchange): PluginWords | undefined {
  const { guards = [] } = exchange;
  const holds = [...(holdsOf.get(exchange) ?? [])];
  if (guards.length + holds.length === 0) return undefined;
  const does = guards.map(({ guard, on, verdict, matches }) => {
    const count = matches > 0 ? ` (${matches} ${matches === 1 ? 'match' : 'matches'})` : '';
    return `${guard} on ${on}: ${verdict}${count}`;
  });
  return { does: [...does, ...holds].join(', '), details: { guards, ...(holds.length > 0 && { holds }) } };
}
