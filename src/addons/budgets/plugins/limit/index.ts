import { definePlugin, type AppliedLimit, type Exchange } from '../../../../core/kernel/index.ts';

/** Refuses requests beyond the rate of requests and the concurrency of their key, its team and its organization. */
export default definePlugin({
  name: 'limit',
  level: 'entry',
  needs: ['gates'],
  requires: ['caller'],
  provides: ['limits'],
  // Lists, files and kept responses cost nothing upstream.
  idleFor: (operation) => operation?.task === undefined,
  explain({ exchange: { limits } }) {
    const applied = limits?.applied.filter(({ limit }) => limit !== 'tokens') ?? [];
    if (applied.length === 0) return undefined;
    return { does: applied.map(describeLimit).join(', '), details: { limits: applied } };
  },
  create({ host: { gates } }) {
    const take = (exchange: Exchange): undefined => {
      const refusal = gates.enter(exchange);
      if (refusal) throw refusal;
      return undefined;
    };
    return {
      step: ({ exchange }) => gates.fetch?.(exchange)?.then(() => take(exchange)) ?? take(exchange),
    };
  },
});

const PERIODS: Readonly<Record<number, string>> = { 1000: 's', 60_000: 'min', 3_600_000: 'h' };

/** `team search: requests 600/min`. A dry run can not know the state of the limits of another process. */
export const describeLimit = ({ node, id, limit, count, perMs }: AppliedLimit): string =>
  `${node} ${id}: ${limit} ${count}${perMs === undefined ? '' : `/${PERIODS[perMs] ?? `${perMs}ms`}`}`;
