import type { Clock } from '../../../plugin/index.ts';
import { isDeepStrictEqual } from 'node:util';
import { targetsOf } from '../../../core/memory/ports.ts';
import type { GatewayConfig, Target } from '../../../core/kernel/index.ts';
import type { SettingPlace } from '../explanation/explanation.ts';
import { admissionOf } from './admission.ts';
import { verdictOf, type ShownField, type ShownWay, type EffectVerdict } from './compare.ts';
import { isUnknown, type Sample, type UnknownSample } from './sample.ts';
import type { SettingsPair } from './settings-pair.ts';
import { isOfSettings, sideOf, type Side } from './ways.ts';

export const MAX_SAMPLES = 1_000;
const LIMIT_MS = 60_000;
/** Between two events of progress. */
const PROGRESS_MS = 250;

/** Requests that move in the same way. */
export interface EffectChange {
  /** Name of one of them. */
  readonly sample: string;
  readonly count: number;
  readonly before: ShownWay;
  readonly after: ShownWay;
  /** Fields of the sent body that differ, without its model. */
  readonly fields: readonly ShownField[];
}

export interface UnknownReason {
  readonly reason: string;
  readonly count: number;
  readonly sample: string;
  readonly place?: SettingPlace | undefined;
}

export interface EffectDone {
  readonly same: number;
  readonly changed: number;
  readonly unknown: number;
  /** Why it is unknown, most frequent first. */
  readonly reasons: readonly UnknownReason[];
  /** Distinct requests that were tried. */
  readonly cases: number;
}

export type EffectEvent =
  | { readonly event: 'progress'; readonly data: { readonly done: number; readonly of: number } }
  | { readonly event: 'change'; readonly data: EffectChange }
  | { readonly event: 'done'; readonly data: EffectDone };

interface EffectSetup {
  readonly samples: readonly (Sample | UnknownSample)[];
  /** Samples beyond those that are looked at. */
  readonly more?: number;
  readonly pair: SettingsPair;
  readonly clock: Pick<Clock, 'now'>;
  readonly limitMs?: number;
}

/** Compares the ways of requests through two versions of the settings. Each distinct request is tried once. */
export async function* effectOf(setup: EffectSetup): AsyncGenerator<EffectEvent> {
  const { samples, more = 0, pair, clock, limitMs = LIMIT_MS } = setup;
  const began = clock.now();
  const looked = samples.slice(0, MAX_SAMPLES);
  const rest = more + samples.length - looked.length;
  const cases = casesOf(looked);
  const tally = new Tally();
  let [done, tried, told] = [0, 0, began];
  yield { event: 'progress', data: { done, of: looked.length } };
  for (const { sample, count } of cases) {
    const now = clock.now();
    if (now - began >= limitMs)
      tally.addUnknown({ reason: `not tried within ${limitMs / 1000} s` }, sample.name, count);
    else {
      tally.add(await verdictFor(sample, pair), sample.name, count);
      tried += 1;
    }
    done += count;
    if (now - told < PROGRESS_MS) continue;
    told = now;
    yield { event: 'progress', data: { done, of: looked.length } };
  }
  if (rest > 0) tally.addUnknown({ reason: `beyond the first ${MAX_SAMPLES.toLocaleString('en')} requests` }, '', rest);
  for (const change of tally.changes()) yield { event: 'change', data: change };
  yield { event: 'done', data: { ...tally.sums(), cases: tried } };
}

function casesOf(
  samples: readonly (Sample | UnknownSample)[],
): readonly { readonly sample: Sample | UnknownSample; readonly count: number }[] {
  const keyOf = (one: Sample | UnknownSample): string =>
    isUnknown(one) ? JSON.stringify([one.reason, one.record]) : one.sameAs;
  return [...Map.groupBy(samples, keyOf).values()].map((same) => ({ sample: same[0]!, count: same.length }));
}

const SAME: EffectVerdict = { kind: 'same' };

async function verdictFor(sample: Sample | UnknownSample, pair: SettingsPair): Promise<EffectVerdict> {
  const { before, after, changed, settings } = pair;
  const { record } = sample;
  const mayDiffer = (config: string | undefined): boolean => changed.shared || changed.configs.has(config ?? '');
  if (!changed.shared && changed.configs.size === 0) return SAME;
  if (record?.settingsHash === settings.before.hash && !mayDiffer(record.config?.id)) return SAME;
  if (isUnknown(sample)) return { kind: 'unknown', unknown: { reason: sample.reason } };
  const refused = changed.shared && admissionOf(sample, pair.loaded.before, pair.loaded.after);
  if (refused) return refused;
  const isOfRecord = sample.record !== undefined && (await isOfSettings(sample.record, before));
  const decided = new Map<string, boolean>();
  const open = sample.record?.open ?? [];
  const was = await sideOf(sample, { explainer: before, decided, isOfRecord, open });
  if ('ways' in was && was.ways.every(({ seen }) => !mayDiffer(seen.exchange.config?.id))) return SAME;
  const asked = { explainer: after, decided, isOfRecord: false };
  let is = await sideOf(sample, { ...asked, open: [] });
  if (open.length > 0) {
    const moved = openIn(configOf(was), configOf(is), open);
    if (!moved) return { kind: 'unknown', unknown: { reason: 'a target was down that these settings do not have' } };
    is = await sideOf(sample, { ...asked, open: moved });
  }
  return verdictOf(sample, was, is, isOfRecord);
}

const configOf = (side: Side): GatewayConfig | undefined =>
  'ways' in side ? side.ways[0]?.seen.exchange.config : undefined;

/** The paths of the same targets in another config: a target that is down is down wherever it is written. Undefined: a path is none of the config. */
function openIn(
  before: GatewayConfig | undefined,
  after: GatewayConfig | undefined,
  paths: readonly string[],
): readonly string[] | undefined {
  const [old, now] = [before, after].map((config) => (config ? targetsOf(config.route) : []));
  const down = paths.map((path) => old!.find((target) => target.path === path));
  if (down.includes(undefined)) return undefined;
  return now!.flatMap((target) =>
    down.some((one) => one && isDeepStrictEqual(identityOf(one), identityOf(target))) ? [target.path] : [],
  );
}

const identityOf = ({ provider, overrideParams, defaultParams }: Target): readonly unknown[] => [
  provider,
  overrideParams?.['model'],
  defaultParams?.['model'],
];

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

class Tally {
  #same = 0;
  readonly #changes = new Map<string, Mutable<EffectChange>>();
  readonly #reasons = new Map<string, Mutable<UnknownReason>>();

  add(verdict: EffectVerdict, sample: string, count: number): void {
    if (verdict.kind === 'same') this.#same += count;
    else if (verdict.kind === 'unknown') this.addUnknown(verdict.unknown, sample, count);
    else {
      const { before, after, fields } = verdict;
      const key = JSON.stringify([before.to, before.place, after.to, after.place, fields]);
      const known = this.#changes.get(key);
      if (known) known.count += count;
      else this.#changes.set(key, { sample, count, before, after, fields });
    }
  }

  addUnknown({ reason, place }: Pick<UnknownReason, 'reason' | 'place'>, sample: string, count: number): void {
    const key = JSON.stringify([reason, place]);
    const known = this.#reasons.get(key);
    if (known) known.count += count;
    else this.#reasons.set(key, { reason, count, sample, ...(place && { place }) });
  }

  changes(): readonly EffectChange[] {
    return mostFirst(this.#changes.values());
  }

  sums(): Omit<EffectDone, 'cases'> {
    const sum = (all: Iterable<{ readonly count: number }>): number => [...all].reduce((n, { count }) => n + count, 0);
    return {
      same: this.#same,
      changed: sum(this.#changes.values()),
      unknown: sum(this.#reasons.values()),
      reasons: mostFirst(this.#reasons.values()),
    };
  }
}

const mostFirst = <Counted extends { readonly count: number }>(all: Iterable<Counted>): readonly Counted[] =>
  [...all].toSorted((one, other) => other.count - one.count);
