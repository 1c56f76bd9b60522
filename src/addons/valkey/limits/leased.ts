import type { SharedPart } from '../../../core/ports/fleet-memory.ts';

/** A limit of which the engine leases parts. */
export interface Leased extends SharedPart {
  readonly name: string;
  /** Nothing is held and nothing was used lately: the engine need not be asked. */
  readonly isIdle: boolean;
  tick(): void;
  /** Seven arguments of the script. What is given back is not used any more. @param leaving everything is */
  question(leaving: boolean): readonly (string | number)[];
  answered(got: number, left: number): void;
  /** The question may have arrived or not. */
  unanswered(): void;
}

export interface Lessor {
  readonly isUp: boolean;
  now(): number;
  /** Asks for the limit each second while it is in use. */
  use(limit: Leased): void;
  /** Asks soon. Never rejects. */
  ask(limit: Leased): Promise<void>;
}

/** A limit of which the engine has nothing left is asked for again after this time. Until then others cannot have given much back. */
export const PAUSE_MS = 20;
