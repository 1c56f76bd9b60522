import type { BootRow } from './boots.ts';

/** This gateway among those that use the same store. Without others it is alone. */
export interface Fleet {
  /** Gateways that share the limits of rates, this one included: as the store last said. */
  readonly gateways: number;
  onGateways(listener: (gateways: number) => void): void;
  /** This gateway does the tasks that one does for all. No request depends on them. */
  readonly isCaretaker: boolean;
  /** This gateway, as the others see it. */
  self(): BootRow;
}
