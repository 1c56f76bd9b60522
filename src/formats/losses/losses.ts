import type { Loss, Tool } from '../conversation.ts';
import { RequestFault } from '../faults.ts';
import { type ParamPath, BodyPlace } from './place.ts';

/** The most losses of one request that are named. Ordinary ones have fewer than ten; the header shows thirty. */
export const MAX_NAMED = 100;

/** A loss with a longer name is only counted: half a field name would be another name. */
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
  /** Created with the first loss: most requests have none. */
  #named: Loss[] | undefined;
  /** Names by action and reason, from the ninth name on. A combined key would have to be built for each loss. */
  #names: Map<Action, Map<string, Set<string>>> | undefined;
  #unnamed: Partial<Record<Action, number>> | undefined;
  readonly #onUnreadable: 'refuse' | 'drop';

  /** @param onUnreadable see `RequestTarget` */
  constructor(onUnreadable: 'refuse' | 'drop' = 'refuse') {
    this.#onUnreadable = onUnreadable;
  }

  /**
   * A part of the caller's, which the target cannot read. Content is no parameter: an answer without it would be a guess. Throws
   * RequestFault unless such parts are to be dropped. Returns undefined, as `dropped` does: what an encoder sends of the part.
   */
  unreadable(part: ParamPath, reason: string): undefined {
    if (this.#onUnreadable === 'refuse')
      throw new RequestFault('invalid_value', `\`${String(part)}\` cannot be sent to this target: ${reason}.`, part);
    this.dropped(part, reason);
  }

  /**
   * A part of a turn, which the target does not understand. A part of the caller's message is content that nothing can
   * replace. A block of an answer is the provider's own, and the answer goes on without it. Throws as `unreadable` does.
   */
  unsent(part: ParamPath, reason: string, role: string): undefined {
    if (role === 'assistant') this.dropped(part, reason);
    else this.unreadable(part, reason);
  }

  dropped(param: ParamPath, reason: string): undefined {
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
    const named = this.#named;
    if (named && this.#holds(loss, named)) return;
    if (named && named.length >= MAX_NAMED) return this.count(loss.action, 1);
    if (named) named.push(loss);
    else this.#named = [loss];
    if (this.#names) enter(loss, this.#names);
  }

  #holds({ action, param, reason }: Loss, named: readonly Loss[]): boolean {
    if (named.length <= FEW) {
      return named.some((one) => one.param === param && one.action === action && one.reason === reason);
    }
    if (!this.#names) {
      this.#names = new Map();
      for (const one of named) enter(one, this.#names);
    }
    return this.#names.get(action)?.get(reason)?.has(param) ?? false;
  }

  addAll(losses: readonly Loss[]): void {
    for (const loss of losses) this.add(loss);
  }

  /** True when no further loss is named. A loop over a caller's fields can stop building names then. */
  get isFull(): boolean {
    return this.#named !== undefined && this.#named.length >= MAX_NAMED;
  }

  /** Adds losses without names. */
  count(action: Action, count: number): void {
    if (count <= 0) return;
    const unnamed = (this.#unnamed ??= {});
    unnamed[action] = (unnamed[action] ?? 0) + count;
  }

  list(): readonly Loss[] {
    const named = this.#named ?? NONE;
    const counts = this.#unnamed;
    if (!counts) return named;
    const unnamed = ACTIONS.flatMap((action) => {
      const count = counts[action];
      return count === undefined ? [] : [{ param: `(+${count} more)`, action, reason: 'Not named one by one', count }];
    });
    return [...named, ...unnamed];
  }
}

const NONE: readonly never[] = [];

/** Up to this many names are compared one by one, which costs less than maps. */
const FEW = 8;

function enter({ action, param, reason }: Loss, names: Map<Action, Map<string, Set<string>>>): void {
  let reasons = names.get(action);
  if (!reasons) names.set(action, (reasons = new Map()));
  const params = reasons.get(reason);
  if (params) params.add(param);
  else reasons.set(reason, new Set([param]));
}

/** Several lists as one, under the same bound. */
export function joinLosses(...lists: readonly (readonly Loss[])[]): readonly Loss[] {
  let only: readonly Loss[] = NONE;
  let filled = 0;
  for (const list of lists) {
    if (list.length === 0) continue;
    only = list;
    filled += 1;
  }
  if (filled <= 1 && only.length <= MAX_NAMED) return only;
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
