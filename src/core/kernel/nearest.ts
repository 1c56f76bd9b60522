/** The candidate closest to `word`, for "did you mean": at most a third of its letters may differ. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const names = [...candidates];
  const wanted = normalise(word);
  let best: string | undefined;
  let limit = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  for (const candidate of names) {
    const name = normalise(candidate);
    // Words of very different lengths are never close. Callers send words too: without this check, a long one would
    // take seconds.
    if (Math.abs(name.length - wanted.length) >= limit) continue;
    const distance = editDistance(wanted, name);
    if (distance < limit) [best, limit] = [candidate, distance];
  }
  return best ?? uniqueContinuation(wanted, names);
}

/** `onStatusCodes`, `on-status-codes` and `on_status_codes` are one name in three conventions. */
const normalise = (word: string): string => word.toLowerCase().replaceAll(/[-_]/g, '');

/** The only candidate that begins with the word: `vertex` for `vertex-ai`. */
function uniqueContinuation(wanted: string, names: readonly string[]): string | undefined {
  if (wanted.length < 3) return undefined;
  const found = names.filter((name) => normalise(name).startsWith(wanted));
  return found.length === 1 ? found[0] : undefined;
}

/** Optimal string alignment: swapping two neighbours costs one edit, so that most typos cost one. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + (same ? 0 : 1));
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) cost = Math.min(cost, beforeLast[column - 2]! + 1);
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length]!;
}
