import type { Loss } from '../conversation.ts';

/** Collects what a request loses on its way to Claude (design.md idea 6: nothing is lost in silence). */
export class LossReport {
  readonly list: Loss[] = [];

  dropped(param: string, reason: string): void {
    this.list.push({ param, action: 'dropped', reason });
  }

  clamped(param: string, reason: string): void {
    this.list.push({ param, action: 'clamped', reason });
  }

  downgraded(param: string, reason: string): void {
    this.list.push({ param, action: 'downgraded', reason });
  }
}
