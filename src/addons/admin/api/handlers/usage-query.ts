import { LEDGER_DIMENSIONS, type RollupDimension, type RollupQuery } from '../../../../core/ports/ledger.ts';
import { ZoneDays } from '../../../../core/ports/zone-days.ts';
import type { Call } from '../call.ts';
import { ledgerLabelsOf } from '../ledger-labels.ts';
import { LABEL } from '../parameters.ts';
import { ApiProblem } from '../problems.ts';

const DAY_MS = 86_400_000;

export interface TimeRange {
  readonly from: number;
  readonly to: number;
}

/** Dates without a time are midnights of the zone. */
export function spanOf({ query, clock }: Call, days?: ZoneDays): TimeRange {
  const momentOf = (name: 'from' | 'to'): number | undefined => {
    const moment = query.moment(name);
    return days && moment !== undefined && query.one(name)!.length === 10 ? days.startOf(moment) : moment;
  };
  const to = momentOf('to') ?? clock.wall();
  const from = momentOf('from') ?? Math.max(0, to - DAY_MS);
  if (from > to) throw new ApiProblem('invalid_query', '`from` must not be after `to`.');
  return { from, to };
}

export function daysOf(zone: string): ZoneDays {
  try {
    // An offset such as +02:00, which Intl reads too, has no summer time.
    if (/^[A-Za-z]/.test(zone)) return new ZoneDays(zone);
  } catch {
    // Intl knows no such name.
  }
  throw new ApiProblem('invalid_query', '`time_zone` must be a name of the IANA database, such as Europe/Berlin.');
}

export function checkHours(zone: string, { from, to }: TimeRange, days: ZoneDays): void {
  const minutes = days.brokenOffset(from, to);
  if (minutes === undefined) return;
  throw new ApiProblem(
    'invalid_query',
    `Sums are kept by hours of UTC, and days of ${zone} begin between two of them: it is ${minutes} minutes from UTC. Leave \`time_zone\` out, or name a zone of whole hours.`,
  );
}

export type SumNames = Required<Pick<RollupQuery, 'by' | 'labels'>>;

const NAMED: readonly RollupDimension[] = [...LEDGER_DIMENSIONS, 'provider'];
const isNamed = (name: string): name is RollupDimension => NAMED.some((one) => one === name);

/** What `by` names. */
export function namesOf(call: Call): SumNames {
  const names = (call.query.one('by') ?? '').split(',').filter((name) => name !== '');
  const by = names.filter(isNamed);
  const labels = names.filter((name) => name.startsWith(LABEL)).map((name) => name.slice(LABEL.length));
  if (by.length + labels.length < names.length || new Set(names).size < names.length)
    throw new ApiProblem('invalid_query', `\`by\` may have ${NAMED.join(', ')} and ${LABEL}NAME, each once.`);
  checkLabels(call, labels);
  return { by, labels };
}

/** A label that the ledger does not keep would be empty in all rows, without a word. */
export function checkLabels(call: Call, names: readonly string[]): void {
  const known = ledgerLabelsOf(call.settings);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const has = known.length === 0 ? 'it names none' : `it has ${known.join(', ')}`;
  throw new ApiProblem(
    'invalid_query',
    `The ledger has no label \`${unknown.slice(0, 64)}\`: \`state.ledger_labels\` of server.yaml names those that it keeps, and ${has}.`,
  );
}
