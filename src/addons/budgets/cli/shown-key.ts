import type { Budget, GatewayKey, ModelRateLimits, RateLimits } from '../../../../schemas/types.generated.ts';
import { concealed } from '../../../core/commands/keys/list.ts';
import type { ShownLists } from '../../../core/settings/compile/added-parts.ts';

/** Limits and budgets of a key for `gatehouse keys list`: `requests 600/min`, `5 USD per day`. */
export const shownOfKey = ({ limits, budgets }: GatewayKey): ShownLists => ({
  limits: limits ? limitsOf(limits) : null,
  budgets: budgets?.map(budgetText) ?? null,
});

function limitsOf({ models = {}, ...own }: RateLimits): readonly string[] {
  const texts = ({ tokens, ...rest }: ModelRateLimits): readonly string[] =>
    Object.entries({ ...rest, ...(tokens && { tokens: typeof tokens === 'string' ? tokens : tokens.rate }) }).map(
      ([name, value]) => `${name} ${value}`,
    );
  const ofModels = Object.entries(models).flatMap(([model, limits]) =>
    texts(limits).map((text) => `${text} of ${concealed(model)}`),
  );
  return [...texts(own), ...ofModels];
}

const budgetText = ({ cap, period, models }: Budget): string =>
  `${cap} ${period === 'total' ? 'in total' : `per ${period}`}${models ? ` of ${models.map(concealed).join(' or ')}` : ''}`;
