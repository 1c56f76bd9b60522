/** The limits of one call. */
export interface CallLimits {
  readonly count: number;
  readonly weight: number;
}

/** Divides items, in order, into as few calls as the limits allow. An item above the limit gets a call of its own, which the upstream may refuse. */
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
