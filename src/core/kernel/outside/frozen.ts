import { currentWork } from './plugin-work.ts';

/** Freezes a shared value for an external plugin: a write would change the requests to some targets alone. */
export function shared<T extends object | null>(value: T): T {
  if (currentWork()) freeze(value);
  return value;
}

/** A frozen object is frozen at every depth, so that each object is walked once. */
function freeze(whole: unknown): void {
  const open = [whole];
  while (open.length > 0) {
    const value = open.pop();
    // Node refuses to freeze a view of bytes.
    if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value) || Object.isFrozen(value)) continue;
    Object.freeze(value);
    for (const inner of Object.values(value)) open.push(inner);
  }
}
