import type { Loss } from '../../../formats/conversation.ts';
import { countLosses } from '../../kernel/index.ts';

/** Size limit of the header: more than any request needs, and less than a proxy refuses. */
const MAX_BYTES = 1024;

/** A name that is sent as it is. */
const ORDINARY = /^[\x20-\x2b\x2d-\x7e]{1,512}$/;

/**
 * Encodes the lost parameters as a list in one header. Commas within a name and characters other than visible ASCII are
 * percent-encoded; HTTP allows the rest (RFC 9110, section 5.5). Names are never cut: those without room are counted.
 */
export function lossHeader(losses: readonly Pick<Loss, 'param' | 'count'>[]): string {
  const [only] = losses;
  // Nearly every such request has one loss, with an ordinary name.
  if (losses.length === 1 && only!.count === undefined && ORDINARY.test(only!.param)) return only!.param;
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
