import type { Loss } from '../conversation.ts';

/** Collects what the target cannot express. One line per place, so that a header made of it stays readable. */
export class LossReport {
  readonly losses: Loss[] = [];

  dropped(param: string, reason: string): void {
    this.losses.push({ param, action: 'dropped', reason });
  }

  downgraded(param: string, reason: string): void {
    this.losses.push({ param, action: 'downgraded', reason });
  }
}
