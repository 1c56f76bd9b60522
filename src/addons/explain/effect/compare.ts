import type { SettingPlace } from '../explanation/explanation.ts';
import { bodyDiff } from '../explanation/body-diff.ts';
import { withoutSecrets } from '../explain/describe/masks.ts';
import { differing, otherRules, ruleChanges, type SentChange } from './body-rules.ts';
import { fieldPlace, keyPlace } from './deciding-place.ts';
import type { RecordedFacts, Sample } from './sample.ts';
import type { RunTarget } from './targets.ts';
import { percent, type Side, type UnknownWay, type Way } from './ways.ts';

/** Where a request goes, as events have it. */
export interface ShownWay {
  readonly to: string;
  readonly config?: string | undefined;
  readonly targets: readonly ShownTarget[];
  /** The line that decided. */
  readonly place?: SettingPlace | undefined;
  readonly refused?: { readonly status: number; readonly code: string; readonly message: string } | undefined;
}

interface ShownTarget {
  /** `@slug/model` */
  readonly target: string;
  readonly at: string;
  readonly refused?: string | undefined;
  /** The part of such requests that it gets first, where a target is drawn. */
  readonly share?: number | undefined;
  readonly place?: SettingPlace | undefined;
}

export type ShownField = SentChange & { readonly place?: SettingPlace | undefined };

export type EffectVerdict =
  | { readonly kind: 'same' }
  | { readonly kind: 'unknown'; readonly unknown: UnknownWay }
  | {
      readonly kind: 'changed';
      readonly before: ShownWay;
      readonly after: ShownWay;
      readonly fields: readonly ShownField[];
    };

const SAME: EffectVerdict = { kind: 'same' };
const unknown = (reason: string, place?: SettingPlace): EffectVerdict => ({
  kind: 'unknown',
  unknown: { reason, place },
});

/** @param isOfRecord the settings before are those of the record */
export function verdictOf({ record }: Sample, before: Side, after: Side, isOfRecord: boolean): EffectVerdict {
  if ('unknown' in before) return { kind: 'unknown', unknown: before.unknown };
  if ('noKey' in before) return unknown(before.noKey);
  if ('unknown' in after) return { kind: 'unknown', unknown: after.unknown };
  const [way] = before.ways;
  if (record && way && isOfRecord && !isAsRecorded(record, way)) return unknown(ELSEWHERE);
  if ('noKey' in after) {
    const refused = { status: 401, code: 'invalid_api_key', message: after.noKey };
    return {
      kind: 'changed',
      before: shownWays(before.ways),
      after: { to: 'refused: no such key', targets: [], refused },
      fields: [],
    };
  }
  const [then] = after.ways;
  return record && way && then ? recordedVerdict(record, way, then) : questionVerdict(before.ways, after.ways);
}

const ELSEWHERE =
  'its way depends on what the record does not have: the settings before would send it elsewhere than it went';

function isAsRecorded({ targets, error, operation }: RecordedFacts, { targets: own, seen }: Way): boolean {
  if (seen.record.operation !== operation) return false;
  if (own.map(({ name }) => name).join(' ') !== targets.join(' ')) return false;
  return targets.length > 0 || seen.exchange.error?.code === error;
}

const keyOf = ({ targets, seen }: Way): string => {
  const error = targets.length === 0 ? seen.exchange.error : undefined;
  return JSON.stringify([targets.map(({ name, refused, sent }) => [name, refused, sent?.url]), error?.code]);
};

function recordedVerdict(record: RecordedFacts, before: Way, after: Way): EffectVerdict {
  const other = before.targets.findIndex(({ name }, index) => name !== after.targets[index]?.name);
  const shared = other < 0 ? before.targets.length : other;
  const valuesOf = (path: string) => record.values.get(`params.${path}`);
  const certain: ShownField[] = [];
  for (const [index, target] of before.targets.slice(0, shared).entries()) {
    const now = after.targets[index]!;
    const changes = ruleChanges(target.one.attempt.target, now.one.attempt.target, valuesOf);
    const rules = differing(otherRules(before.seen, target.one), otherRules(after.seen, now.one));
    const unsure = [...changes.unsure.map((path) => `\`${path}\``), ...rules];
    const isFailed = record.failures.has(target.name);
    if (isFailed && (unsure.length > 0 || changes.certain.length > 0 || !isAsPatient(target, now)))
      return unknown('its target failed then, and is asked in another way now', now.place);
    const found =
      changes.certain.length + unsure.length > 0 ? changes.certain : differencesOf(target.sent?.body, now.sent?.body);
    certain.push(...found.map((field) => ({ ...field, place: fieldPlace(after.seen, now.at, field.path) })));
    if (index === shared - 1 && keyOf(before) === keyOf(after) && unsure.length > 0) {
      const known =
        certain.length > 0 ? ` (it is known of ${certain.map(({ path }) => `\`${path}\``).join(', ')})` : '';
      return unknown(
        `${unsure.join(', ')}: settings change it, and what is sent depends on the body, which the record does not have${known}`,
        fieldPlace(after.seen, now.at, changes.unsure[0] ?? '') ?? now.place,
      );
    }
  }
  return keyOf(before) === keyOf(after) && certain.length === 0 ? SAME : changed([before], [after], certain, shared);
}

/** Whether the target gets as much time and as many tries: else its recorded failure may not happen. */
function isAsPatient({ one: { attempt: before } }: RunTarget, { one: { attempt: after } }: RunTarget): boolean {
  const of = ({ timeouts, target: { retry, unwanted } }: typeof before): string =>
    JSON.stringify([timeouts, retry.attempts, [...retry.onStatusCodes], unwanted]);
  return of(before) === of(after);
}

function questionVerdict(before: readonly Way[], after: readonly Way[]): EffectVerdict {
  const [old, now] = [sharesOf(before), sharesOf(after)];
  const isMoved =
    old.size !== now.size || [...old].some(([key, share]) => Math.abs((now.get(key) ?? 0) - share) > 1e-9);
  const fields = before.flatMap((way) => {
    const same = after.find((one) => keyOf(one) === keyOf(way)) ?? (after.length === 1 ? after[0] : undefined);
    return way.targets.flatMap((target, index) => {
      const other = same?.targets[index];
      if (!same || !other || other.sent?.format !== target.sent?.format) return [];
      return differencesOf(target.sent?.body, other.sent?.body).map((field) => ({
        ...field,
        place: fieldPlace(same.seen, other.at, field.path),
      }));
    });
  });
  if (!isMoved && fields.length === 0) return SAME;
  const first = before[0]?.targets.findIndex(({ name }, index) => name !== after[0]?.targets[index]?.name) ?? 0;
  return changed(before, after, [...new Map(fields.map((field) => [field.path, field])).values()], Math.max(0, first));
}

function sharesOf(ways: readonly Way[]): ReadonlyMap<string, number> {
  const shares = new Map<string, number>();
  for (const way of ways) shares.set(keyOf(way), (shares.get(keyOf(way)) ?? 0) + way.share);
  return shares;
}

/** @param at number of the target that decides about the difference */
function changed(
  before: readonly Way[],
  after: readonly Way[],
  fields: readonly ShownField[],
  at: number,
): EffectVerdict {
  const all = { before: shownWays(before, at), after: shownWays(after, at), fields: fields.map(short) };
  const safe = [...before, ...after].reduce((shown, { seen }) => withoutSecrets(shown, seen), all);
  return { kind: 'changed', ...safe };
}

function shownWays(ways: readonly Way[], at = 0): ShownWay {
  const [first] = ways;
  if (!first) return { to: 'nowhere', targets: [] };
  const { seen } = first;
  const config = seen.exchange.config?.id;
  const named = config === undefined || config === '' ? {} : { config };
  if (ways.length > 1) {
    const targets = ways.flatMap(({ targets: [target], share }) => (target ? [{ ...shownTarget(target), share }] : []));
    const to = targets.map(({ target, share }) => `${percent(share)} ${target}`).join(', ');
    return { to, ...named, targets, place: first.targets[0]?.place };
  }
  const { targets } = first;
  const { error, reply } = seen.exchange;
  if (targets.length > 0)
    return {
      to: targets
        .map(({ name, refused }) => (refused === undefined ? name : `${name} (refused: ${refused})`))
        .join(', then '),
      ...named,
      targets: targets.map(shownTarget),
      place: (targets[at] ?? targets.at(-1))?.place,
    };
  if (!error) return { to: `answered by the gateway: ${reply?.status}`, ...named, targets: [] };
  const refused = { status: error.clientStatus, code: error.code, message: error.message };
  return { to: `refused: ${error.code}`, ...named, targets: [], refused, place: keyPlace(seen) };
}

const shownTarget = ({ name, at, refused, place }: RunTarget): ShownTarget => ({
  target: name,
  at,
  ...(refused !== undefined && { refused }),
  place,
});

const differencesOf = (before: unknown, after: unknown): readonly SentChange[] =>
  bodyDiff(before, after)
    .filter(({ path }) => path.join('.') !== 'model')
    .map(({ path, received, sent }) => ({
      path: path.join('.'),
      ...(received !== undefined && { before: received }),
      ...(sent !== undefined && { after: sent }),
    }));

const LONGEST = 200;

/** A long value as the beginning of its JSON. */
const short = (field: ShownField): ShownField =>
  JSON.parse(JSON.stringify(field), (name, value: unknown) => {
    const text = name === 'before' || name === 'after' ? JSON.stringify(value) : '';
    return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : value;
  }) as ShownField;
