import { definePlugin, type Exchange } from '../../../../core/kernel/index.ts';
import type { ModelTask } from '../../../../plugin/index.ts';
import { describeLimit } from '../limit/index.ts';

/** Tasks whose models count no tokens. */
const WITHOUT_TOKENS: ReadonlySet<ModelTask | undefined> = new Set([undefined, 'count_tokens', 'moderations']);

/** Refuses requests beyond the rate of tokens of their key, its team and its organization. */
export default definePlugin({
  name: 'limit-tokens',
  level: 'entry',
  needs: ['gates'],
  requires: ['body', 'limits'],
  idleFor: (operation) => WITHOUT_TOKENS.has(operation?.task),
  explain({ exchange: { limits, request } }) {
    const applied = limits?.applied.filter(({ limit }) => limit === 'tokens') ?? [];
    if (applied.length === 0) return undefined;
    const estimate = request.body?.roughTokens ?? 0;
    const does = `about ${estimate} tokens of ${applied.map(describeLimit).join(', ')}`;
    return { does, details: { estimate, limits: applied } };
  },
  create({ host: { gates } }) {
    const take = (exchange: Exchange): undefined => {
      const refusal = gates.takeTokens(exchange);
      if (refusal) throw refusal;
      return undefined;
    };
    return {
      step: ({ exchange }) => gates.fetch?.(exchange, 'tokens')?.then(() => take(exchange)) ?? take(exchange),
    };
  },
});
