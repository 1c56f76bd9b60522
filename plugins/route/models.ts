import type { RequestBody, SkippedTarget, Target } from '../../src/core/kernel/index.ts';

/** A target whose model has refused this request. The same model would refuse it again. */
export interface ModelRefusal {
  readonly target: Target;
  /** True: the prompt was too long. False: a content filter refused it. */
  readonly tooLong: boolean;
}

/** Why a target would refuse as well; undefined when it might succeed. */
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

/** When either does not declare its context window, only a try can tell. */
const mayTakeMore = ({ contextWindow: one }: Target, { contextWindow: other }: Target): boolean =>
  one === undefined || other === undefined || one > other;

/** The model name of a target, as the target or the request writes it. */
function modelOf({ overrideParams, defaultParams }: Target, body: RequestBody | undefined): string | undefined {
  const own = overrideParams?.['model'];
  if (typeof own === 'string') return own;
  const fallback = defaultParams?.['model'];
  return body?.string('model') ?? (typeof fallback === 'string' ? fallback : undefined);
}

/**
 * Whether two names mean the same model at any host: compared without catalog entry, family prefix and host-specific
 * version syntax. A name without a version matches any version; two different versions are two models.
 */
function isSameModel(one: string | undefined, other: string | undefined): boolean {
  if (one === undefined || other === undefined) return false;
  const [here, there] = [bareName(one), bareName(other)];
  return here === there || here.replace(VERSION, '') === there || here === there.replace(VERSION, '');
}

/**
 * `-20250929`, `-2024-08-06`, `-001`: a date or a three-digit number after the name; or a word for the current version.
 */
const VERSION = /-(?:\d{8}|\d{4}-\d{2}-\d{2}|\d{3}|latest|default)$/;

/**
 * `@slug/`, `publishers/x/models/` and any other path; then `family.`, letters only, so that `gpt-4.1` does not match.
 */
const PLACE = /^(?:.*\/)?(?:[a-z]+\.)?/i;

const bareName = (model: string): string => model.replace(PLACE, '').replace('@', '-').toLowerCase();
