/** The effect of a guard on a text that its check finds. */
export type GuardAction = 'deny' | 'observe' | 'mask';

/** A guard as settings have it. Only the add-on that runs guards knows more of it. */
export interface GuardSettings {
  readonly name: string;
}

/** The decision of one guard about the request or its reply. It has no text. */
export interface GuardVerdict {
  readonly guard: string;
  readonly on: 'input' | 'output';
  readonly action: GuardAction;
  /**
   * pass: nothing was found. denied, masked, observed: by the action. error: the check failed, and the request was refused.
   * skipped: the check failed or did not run, and the request went on. unseen: the guard cannot read a part of it.
   */
  readonly verdict: 'pass' | 'denied' | 'masked' | 'observed' | 'error' | 'skipped' | 'unseen';
  /** The number of matches. */
  readonly matches: number;
  /** The longest wait of an event of a stream for the guard's decision, in milliseconds. Undefined: none has waited. */
  readonly heldMs?: number | undefined;
}
