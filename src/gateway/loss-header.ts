import type { Loss } from '../formats/conversation.ts';
import { countLosses } from '../plugin/index.ts';

/** Names of one header line: more than any request has, and less than a proxy refuses. */
const MAX_BYTES = 1024;

/**
 * What was lost, as a list of names in one header: as they are where HTTP allows it (RFC 9110, section 5.5), a comma within a name
 * and what is no visible ASCII percent-encoded. Never the half of a name: what has no room is counted.
 */
export function lossHeader(losses: readonly Pick<Loss, 'param' | 'count'>[]): string {
  const params = new Set(losses.flatMap(({ param, count }) => (count === undefined ? [param] : [])));
  const kept: string[] = [];
  let room = MAX_BYTES - '(+999999999 more)'.length;
  for (const param of params) {
    const name = param.toWellFormed().replaceAll(/[^\x20-\x2b\x2d-\x7e]/gu, encodeURIComponent);
    room -= name.length + 1;
    if (room < 0) break;
    kept.push(name);
  }
  const unnamed = countLosses(losses.filter(({ count }) => count !== undefined));
  const left = params.size - kept.length + unnamed;
  return left === 0 ? kept.join(',') : [...kept, `(+${left} more)`].join(',');
}
