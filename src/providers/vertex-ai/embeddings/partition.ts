/** How much fits into one call. */
export interface CallLimits {
  readonly count: number;
  readonly weight: number;
}

/** Items in their order, in as few calls as the limits leave. What is too heavy by itself goes alone: the upstream is its judge. */
export function partition<T>(items: readonly T[], limits: CallLimits, weigh: (item: T) => number): readonly T[][] {
  const calls: T[][] = [];
  let open: T[] = [];
  let weight = 0;
  for (const item of items) {
    const own = weigh(item);
    if (open.length > 0 && (open.length >= limits.count || weight + own > limits.weight)) {
      calls.push(open);
      open = [];
      weight = 0;
    }
    open.push(item);
    weight += own;
  }
  if (open.length > 0) calls.push(open);
  return calls;
}
