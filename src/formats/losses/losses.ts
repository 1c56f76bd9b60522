import type { Loss } from '../conversation.ts';
import type { ParamPath } from './place.ts';

/** So many losses of one request have names. An ordinary request has fewer than ten, and the header shows about thirty. */
export const MAX_NAMED = 100;

/** A longer name is counted instead: only a field name that is itself that long makes one, and half a name would be another one. */
export const MAX_NAME_LENGTH = 512;

type Action = Loss['action'];

const ACTIONS: readonly Action[] = ['dropped', 'clamped', 'downgraded'];

/**
 * What a request cannot express at its target: nothing is lost in silence (docs/protocols/requests.md#losses). A body may hold hundreds
 * of thousands of fields that no target has: the first ones are named, one entry per place, action and reason, and the others are
 * counted. The count is in the last entries of the list, one for each action.
 */
export class LossReport {
  readonly #named: Loss[] = [];
  /** Names by action and reason. A name is looked up as it is: one text for all three would have to be made for each loss. */
  readonly #names: Readonly<Record<Action, Map<string, Set<string>>>> = {
    dropped: new Map(),
    clamped: new Map(),
    downgraded: new Map(),
  };
  readonly #unnamed = new Map<Action, number>();

  dropped(param: ParamPath, reason: string): void {
    this.#lose('dropped', param, reason);
  }

  clamped(param: ParamPath, reason: string): void {
    this.#lose('clamped', param, reason);
  }

  downgraded(param: ParamPath, reason: string): void {
    this.#lose('downgraded', param, reason);
  }

  /** A loss that is only counted needs no name: a place is not written out to find that it has been named before. */
  #lose(action: Action, param: ParamPath, reason: string): void {
    if (this.isFull && typeof param !== 'string') this.count(action, 1);
    else this.add({ param: String(param), action, reason });
  }

  add(loss: Loss): void {
    if (loss.count !== undefined) return this.count(loss.action, loss.count);
    if (loss.param.length > MAX_NAME_LENGTH) return this.count(loss.action, 1);
    const known = this.#names[loss.action].get(loss.reason);
    if (known?.has(loss.param)) return;
    if (this.isFull) return this.count(loss.action, 1);
    if (known) known.add(loss.param);
    else this.#names[loss.action].set(loss.reason, new Set([loss.param]));
    this.#named.push(loss);
  }

  addAll(losses: readonly Loss[]): void {
    for (const loss of losses) this.add(loss);
  }

  /** Nothing more is named. A loop over a caller's fields that finds this needs no names any more. */
  get isFull(): boolean {
    return this.#named.length >= MAX_NAMED;
  }

  /** Further losses, without names. */
  count(action: Action, count: number): void {
    if (count > 0) this.#unnamed.set(action, (this.#unnamed.get(action) ?? 0) + count);
  }

  list(): readonly Loss[] {
    const unnamed = ACTIONS.flatMap((action) => {
      const count = this.#unnamed.get(action);
      return count === undefined ? [] : [{ param: `(+${count} more)`, action, reason: 'Not named one by one', count }];
    });
    return [...this.#named, ...unnamed];
  }
}

/** Several lists as one, under the same bound. */
export function joinLosses(...lists: readonly (readonly Loss[])[]): readonly Loss[] {
  const [only, ...others] = lists.filter((list) => list.length > 0);
  if (only === undefined) return [];
  if (others.length === 0 && only.length <= MAX_NAMED) return only;
  const report = new LossReport();
  for (const list of lists) report.addAll(list);
  return report.list();
}
