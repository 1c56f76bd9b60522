import type { RequestBody, SkippedTarget, Target } from '../../src/plugin/index.ts';

/** A target whose model has refused what this request says: the same words meet the same answer there. */
export interface ModelRefusal {
  readonly target: Target;
  /** The prompt was too long for it; else a content filter took offence. */
  readonly tooLong: boolean;
}

/** Why a target could do no better than those that have refused; undefined: it might. */
export function reasonAgainst(
  target: Target,
  refusals: readonly ModelRefusal[],
  body: RequestBody | undefined,
): SkippedTarget['reason'] | undefined {
  const model = modelOf(target, body);
  if (refusals.some((refusal) => isSameModel(model, modelOf(refusal.target, body)))) return 'same_model';
  return refusals.some((refusal) => refusal.tooLong && !mayTakeMore(target, refusal.target))
    ? 'context_window'
    : undefined;
}

/** Where either does not say how much it takes, trying is the only way to know. */
const mayTakeMore = ({ contextWindow: one }: Target, { contextWindow: other }: Target): boolean =>
  one === undefined || other === undefined || one > other;

/** The model a target asks, as it is written: by the target, or by the request. */
function modelOf({ overrideParams, defaultParams }: Target, body: RequestBody | undefined): string | undefined {
  const own = overrideParams?.['model'];
  if (typeof own === 'string') return own;
  const fallback = defaultParams?.['model'];
  return body?.string('model') ?? (typeof fallback === 'string' ? fallback : undefined);
}

/**
 * The same model at whatever place: without its catalog entry, its family's prefix and the way a host writes versions. A name
 * without a version stands for one of them; two versions are two models.
 */
function isSameModel(one: string | undefined, other: string | undefined): boolean {
  if (one === undefined || other === undefined) return false;
  const [here, there] = [bareName(one), bareName(other)];
  return here === there || here.replace(VERSION, '') === there || here === there.replace(VERSION, '');
}

/** `-20250929`, `-2024-08-06`, `-001`: a date or a number of three digits behind the name; and the words for whichever is current. */
const VERSION = /-(?:\d{8}|\d{4}-\d{2}-\d{2}|\d{3}|latest|default)$/;

/** `@slug/`, `publishers/x/models/` and whatever else leads there; then `family.`, which is letters alone: no `gpt-4.1`. */
const PLACE = /^(?:.*\/)?(?:[a-z]+\.)?/i;

const bareName = (model: string): string => model.replace(PLACE, '').replace('@', '-').toLowerCase();
