import type { Attempt, Exchange } from '../kernel/index.ts';
import type { RequestPrices } from './costs.ts';
import { withoutVersion } from '../kernel/model-ids.ts';

/** Another model or tier answered than the request named. The request pays the prices of the one that answered. */
export const SUBSTITUTIONS = ['model', 'tier', 'model_and_tier'] as const;
export type Substitution = (typeof SUBSTITUTIONS)[number];

/** Undefined: the model and the tier of the request have answered, or no reply names them. */
export function substitutionOf(
  { operation }: Exchange,
  { resolved, signals, body, cache }: Attempt,
  prices: RequestPrices | undefined,
  receivedAt: number,
): Substitution | undefined {
  if (!resolved || !signals?.usage || operation?.task !== 'generate') return undefined;
  const answered = signals.model;
  // A name without a price is that of a deployment, which any model may serve.
  const model =
    answered !== undefined &&
    answered !== resolved.model &&
    isOtherModel(resolved.model, answered) &&
    prices?.knows(resolved, receivedAt) === true;
  // A kept reply has the tier of the request that it answered first.
  const asked =
    cache === 'hit' || cache === 'semantic_hit' ? undefined : (body.value('service_tier') ?? body.value('serviceTier'));
  const tier = typeof asked === 'string' && isOtherTier(asked, signals.usage.tier);
  if (model) return tier ? 'model_and_tier' : 'model';
  return tier ? 'tier' : undefined;
}

/** Tiers without a price of their own. With `auto`, and with none, the provider chooses. */
const STANDARD: ReadonlySet<unknown> = new Set(['default', 'standard', 'standard_only']);
const PRICED: ReadonlySet<unknown> = new Set(['flex', 'priority']);

/** @param answered as it is priced: a reply that names no tier is one of the standard tier */
function isOtherTier(asked: string, answered: string | undefined): boolean {
  const name = asked.toLowerCase();
  return PRICED.has(name) ? answered !== name : STANDARD.has(name) && answered !== undefined;
}

/** Most requests have the names of the one before. */
let latest = { asked: '', answered: '', isOther: false };

function isOtherModel(asked: string, answered: string): boolean {
  if (asked !== latest.asked || answered !== latest.answered)
    latest = { asked, answered, isOther: plain(asked) !== plain(answered) };
  return latest.isOther;
}

/** Numbers of builds behind a name: `-001`, `-0613`. Shorter ones are names of models: `claude-opus-4-1`. */
const BUILD = /-[0-9]{3,}$/;

/** `publishers/google/models/gemini-2.5-pro` without its path and its version. */
const plain = (model: string): string => withoutVersion(model.slice(model.lastIndexOf('/') + 1)).replace(BUILD, '');
