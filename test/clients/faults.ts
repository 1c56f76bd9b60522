import type { Driver } from './drivers/driver.ts';
import type { UpstreamKind } from './matrix.ts';

/** Cells that fail by a fault of the gateway. They run as `it.fails`, so a repaired cell fails until it is removed here. */
interface Fault {
  readonly reason: string;
  readonly drivers: readonly string[];
  readonly wires?: readonly UpstreamKind['wire'][];
  readonly cell: RegExp;
}

const FAULTS: readonly Fault[] = [];

export function faultOf(driver: Driver, { wire }: UpstreamKind, cell: string): string | undefined {
  return FAULTS.find(
    ({ drivers, wires, cell: pattern }) =>
      drivers.includes(driver.name) && (wires?.includes(wire) ?? true) && pattern.test(cell),
  )?.reason;
}
