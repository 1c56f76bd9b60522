import type { CompiledGuard } from '../guard.ts';
import type { TextSearch } from '../search/text-search.ts';

/** How much of a reply waits for a guard, and why, for `gatehouse explain`. Undefined: nothing waits. */
export function holdWords(
  { name, check, action, output, hold }: CompiledGuard,
  search: Pick<TextSearch, 'decided' | 'longest'> | undefined,
): string | undefined {
  if (!output || action === 'observe') return undefined;
  const whole = `${name} holds the whole reply, so that the client waits for its end:`;
  if (!search) return `${whole} the webhook is asked about whole texts`;
  if (!search.decided)
    return `${whole} ${check === 'regex' ? 'a match of its pattern has no longest length' : `the check ${check} decides about whole texts`}`;
  if (hold.mode === 'all') return `${whole} \`hold: { mode: all }\` lets a refusal have its status`;
  const most = Math.min(search.longest ?? Infinity, hold.bytes ?? Infinity);
  return `${name} holds the end of each text of a stream while it may be the begin of a match, at most ${most} characters: ${
    most === search.longest ? 'the longest match of its check' : '`hold: { bytes }`'
  }`;
}
