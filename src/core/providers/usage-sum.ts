import type { Usage } from '../../formats/events.ts';

/** The usage of several replies that make one answer. Tier, place and speed are those of the first that names them. */
export function addUsages(usages: readonly Usage[]): Usage {
  const sum: Record<string, unknown> = { input: 0, output: 0, total: 0 };
  for (const usage of usages)
    for (const [name, value] of Object.entries(usage)) {
      const before = sum[name];
      sum[name] = typeof before === 'number' && typeof value === 'number' ? before + value : (before ?? value);
    }
  // Each member is a sum of members of the same name, or one of them.
  return sum as unknown as Usage;
}
