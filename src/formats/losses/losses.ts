import type { Loss, Tool } from '../conversation.ts';
import { type ParamPath, BodyPlace } from './place.ts';

/**
 * The most losses of one request that are named. An ordinary request has fewer than ten, and the header shows about
 * thirty.
 */
export const MAX_NAMED = 100;

/**
 * A loss with a longer name is only counted. Only a field name of that length produces one, and half a name would be
 * another name.
 */
export const MAX_NAME_LENGTH = 512;

type Action = Loss['action'];

const ACTIONS: readonly Action[] = ['dropped', 'clamped', 'downgraded'];

/**
 * Collects everything that a request cannot express at its target: no loss is silent
 * (docs/protocols/requests.md#losses). A body may hold hundreds of thousands of fields that no target has: the first
 * ones are named, one entry per place, action and reason, and the others are counted. The last entries of the list hold
 * the counts, one for each action.
 */
export class LossReport {
  readonly #named: Loss[] = [];
  /** Names by action and reason. Nested maps need no combined key, which would have to be built for each loss. */
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

  /** A full report only counts: it does not write a place out, not even to find a duplicate. */
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

  /** True when no further loss is named. A loop over a caller's fields can stop building names then. */
  get isFull(): boolean {
    return this.#named.length >= MAX_NAMED;
  }

  /** Adds losses without names. */
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

/** Reports fields of single tools that only the API they were written for has. */
export function reportToolExtras(tools: readonly Tool[] | undefined, losses: LossReport, reason: string): void {
  tools?.forEach((tool, at) => {
    if (tool.type !== 'function' || !tool.extras) return;
    const place = BodyPlace.item('tools', at);
    for (const key of Object.keys(tool.extras)) losses.dropped(BodyPlace.field(place, key), reason);
  });
}
