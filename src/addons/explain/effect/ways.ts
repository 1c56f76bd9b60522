import type { Group } from '../../../core/kernel/index.ts';
import { levelsOf } from '../../../core/dry-run/written-config.ts';
import { UnknownKey } from '../../../core/dry-run/supposed-caller.ts';
import { hashOfConfig } from '../../../core/settings/compile/gateway-config.ts';
import type { SettingPlace } from '../explanation/explanation.ts';
import { ExplainHangs } from '../explain/explain-hangs.ts';
import type { Explainer } from '../explain/explainer.ts';
import type { HealthThen } from '../explain/frozen.ts';
import type { Observation } from '../explain/observation.ts';
import type { ExplainQuestion } from '../explain/question.ts';
import { wayTo } from '../explain/way-to-target.ts';
import { decideByRecord, valuesIn, type UnknownCondition } from './conditions.ts';
import { conditionPlace, groupPlace } from './deciding-place.ts';
import type { RecordedFacts, Sample } from './sample.ts';
import { targetsIn, type RunTarget } from './targets.ts';

/** The way of a sample through one version of the settings. */
export interface Way {
  /** The part of such requests that go this way: 1, unless a target is drawn. */
  readonly share: number;
  readonly targets: readonly RunTarget[];
  readonly seen: Observation;
}

export interface UnknownWay {
  readonly reason: string;
  readonly place?: SettingPlace | undefined;
}

/** A key that these settings do not have. */
interface NoKey {
  readonly noKey: string;
}

export type Side = { readonly ways: readonly Way[] } | { readonly unknown: UnknownWay } | NoKey;

/** Draws of one question that are tried at most. */
const MAX_WAYS = 64;

interface Asked {
  readonly explainer: Explainer;
  /** Results of conditions in the record, by their queries: the run with its own settings fills it, the other one reads it. */
  readonly decided: Map<string, boolean>;
  /** The settings are those of the record, as far as its config goes. */
  readonly isOfRecord: boolean;
  readonly open: readonly string[];
}

/** Rejects only with SettingsRefused. */
export async function sideOf(sample: Sample, asked: Asked): Promise<Side> {
  try {
    return sample.record
      ? await recordedWay(sample.question, sample.record, asked)
      : await drawnWays(sample.question, asked);
  } catch (error) {
    if (error instanceof UnknownKey) return { noKey: error.message };
    if (error instanceof ExplainHangs) return { unknown: { reason: error.message } };
    throw error;
  }
}

/** Whether the record was made with these settings: its hash is theirs, or that of its config is. */
export async function isOfSettings({ settingsHash, config }: RecordedFacts, explainer: Explainer): Promise<boolean> {
  const { settings } = await explainer.loaded();
  const file = config && settings?.gateway.get(config.id);
  return settingsHash === settings?.hash || (file !== undefined && hashOfConfig(file) === config?.hash);
}

async function recordedWay(question: ExplainQuestion, record: RecordedFacts, asked: Asked): Promise<Side> {
  const { decide, unknown } = decideByRecord(record, asked);
  const seen = await asked.explainer.observe(
    {
      ...question,
      draws: record.draws.length > 0 ? record.draws : undefined,
      decide,
      supposed: new Map(asked.open.map((path) => [path, DOWN])),
      failureOf: ({ resolved }) => resolved && record.failures.get(`@${resolved.slug}/${resolved.model}`),
    },
    { answers: true },
  );
  const why = [...unknown.slice(0, 1).map((one) => unknownCondition(one, seen)), unrun(seen), undrawn(record, seen)];
  const reason = [...why, unknownSticky(record, seen)].find((one) => one !== undefined);
  return reason ? { unknown: reason } : { ways: [{ share: 1, targets: targetsIn(seen), seen }] };
}

const DOWN: HealthThen = { state: 'open', retryAt: Infinity, admits: false };

function unknownCondition({ at, index, fields }: UnknownCondition, seen: Observation): UnknownWay {
  const names = fields.map((name) => `\`${name}\``).join(' and ');
  return {
    reason: `a condition compares ${names}, which the record does not have`,
    place: conditionPlace(seen, at, index),
  };
}

/** Explain runs no plugin that is not declared pure, and such a plugin may change anything. */
function unrun({ steps }: Observation): UnknownWay | undefined {
  const step = steps.find(({ run }) => !run);
  return step && { reason: `the plugin ${step.place.instance} is not declared pure, so it is not run here` };
}

const isDrawn = ({ mode, weights }: Group): boolean =>
  mode === 'loadbalance' && weights.filter((weight) => weight > 0).length > 1;

function undrawn({ draws }: RecordedFacts, seen: Observation): UnknownWay | undefined {
  if ((seen.exchange.draws?.length ?? 0) <= draws.length) return undefined;
  const group = groupsAround(seen).find(isDrawn);
  if (!group) return undefined;
  const total = group.weights.reduce((sum, weight) => sum + weight, 0);
  const parts = group.members.map(({ path }, index) => `${percent((group.weights[index] ?? 0) / total)} ${path}`);
  return { reason: `a load balance draws among ${parts.join(', ')}`, place: groupPlace(seen, group.path) };
}

export const percent = (share: number): string => `${Math.round(share * 1000) / 10} %`;

/** The groups around all targets that were tried, from outside to inside. */
function groupsAround({ exchange: { config, attempts } }: Observation): readonly Group[] {
  if (!config) return [];
  const all = attempts.flatMap(({ target }) =>
    wayTo(config.route, target).flatMap(({ around }) => (around.kind === 'group' ? [around] : [])),
  );
  return [...new Set(all)];
}

function unknownSticky(record: RecordedFacts, seen: Observation): UnknownWay | undefined {
  const valuesOf = valuesIn(record, seen.exchange);
  for (const { sticky, path } of groupsAround(seen)) {
    if (!sticky) continue;
    const names = levelsOf(seen, path)[0]?.says.strategy?.sticky?.hash_fields ?? [];
    const field = names.find((name) => name !== 'caller' && !isOne(valuesOf(name)));
    if (field !== undefined)
      return {
        reason: `\`${field}\` keeps requests on one target, and the record does not have it`,
        place: groupPlace(seen, path),
      };
  }
  return undefined;
}

/** A missing field and null are the same to a group that keeps requests together. */
const isOne = (values: readonly unknown[] | undefined): boolean =>
  values !== undefined && new Set(values.map((value) => value ?? undefined)).size === 1;

/** A question without draws goes each way that can be drawn before its first target. */
async function drawnWays(question: ExplainQuestion, { explainer }: Asked): Promise<Side> {
  const ways: Way[] = [];
  const pending: { readonly draws: readonly number[]; readonly share: number }[] = [{ draws: [], share: 1 }];
  for (let one = pending.shift(); one; one = pending.shift()) {
    const draws = question.draws ?? [...one.draws, 0];
    const seen = await explainer.observe({ ...question, draws });
    const reason = unrun(seen);
    if (reason) return { unknown: reason };
    const group = question.draws ? undefined : drawnGroup(seen, one.draws.length);
    if (!group) ways.push({ share: one.share, targets: targetsIn(seen), seen });
    else pending.unshift(...branchesOf(group, one));
    if (ways.length + pending.length > MAX_WAYS)
      return { unknown: { reason: `load balances draw among more than ${MAX_WAYS} ways` } };
  }
  return { ways };
}

/** The group that uses the draw with this number, if it comes before the first target. */
function drawnGroup({ exchange: { config, attempts } }: Observation, number: number): Group | undefined {
  const [first] = attempts;
  if (!config || !first) return undefined;
  const isSticky = first.choice.reason === 'sticky';
  const drawing = wayTo(config.route, first.target).flatMap(({ around }) =>
    around.kind === 'group' && around.mode === 'loadbalance' && !(around.sticky && isSticky) ? [around] : [],
  );
  return drawing[number];
}

function branchesOf(group: Group, { draws, share }: { readonly draws: readonly number[]; readonly share: number }) {
  const total = group.weights.reduce((sum, weight) => sum + weight, 0);
  let from = 0;
  return group.weights.flatMap((weight) => {
    if (weight <= 0) return [];
    const middle = (from + weight / 2) / total;
    from += weight;
    return [{ draws: [...draws, middle], share: (share * weight) / total }];
  });
}
