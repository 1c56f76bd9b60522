import { createFakeClock, type FakeClock } from '../../../../plugin/testing/index.ts';
import { LEDGER_NAMES, LEDGER_SUMS, type LedgerRow } from '../../../../core/ports/ledger.ts';
import type { StateStore } from '../../../../core/ports/store.ts';

/** A backend under test: an implementation of all ports of a store, or of some. A new one has to add this and nothing else. */
export interface Backend<Ports extends keyof StateStore = keyof StateStore> {
  readonly name: string;
  /** Opens an empty store. @param maxNames in place of MAX_NAMES */
  open(parts: {
    readonly clock: FakeClock;
    readonly keys: string;
    readonly maxNames: number;
  }): Promise<OpenedStore<Ports>>;
}

export interface OpenedStore<Ports extends keyof StateStore = keyof StateStore> {
  readonly store: Pick<StateStore, Ports>;
  /** Closes the store and removes what it wrote. */
  end(): Promise<void>;
}

/** A ring with one key to seal secrets. */
export const KEYS = `k1:${Buffer.alloc(32, 7).toString('base64')}`;

/** 2026-11-22, noon. */
export const NOON = Date.UTC(2026, 10, 22, 12);
export const ANN = { id: 'ann', role: 'admin', address: '10.0.0.1' } as const;

/** Runs a test on a store of its own. */
export const onStore =
  <Ports extends keyof StateStore>(
    backend: Backend<Ports>,
    test: (store: Pick<StateStore, Ports>, clock: FakeClock) => Promise<void>,
  ) =>
  async (): Promise<void> => {
    const clock = createFakeClock(NOON);
    const { store, end } = await backend.open({ clock, keys: KEYS, maxNames: 5 });
    try {
      await test(store, clock);
    } finally {
      await end();
    }
  };

const SUMS = Object.fromEntries(LEDGER_SUMS.map((sum) => [sum, 0])) as Record<(typeof LEDGER_SUMS)[number], number>;
const NAMES = Object.fromEntries(LEDGER_NAMES.map((name) => [name, ''])) as Record<
  (typeof LEDGER_NAMES)[number],
  string
>;

/** @param number of the request, in the order of requests */
export const rowOf = (number: number, row: Partial<LedgerRow> = {}): LedgerRow => ({
  ...SUMS,
  ...NAMES,
  req: `01930000-0000-7000-8000-${number.toString(16).padStart(12, '0')}`,
  requestId: '',
  att: 0,
  kind: 'try',
  at: NOON + number,
  asked: '',
  src: 'told',
  tier: '',
  geo: '',
  priceVersion: '2026-11-20',
  labels: '',
  held: 0,
  ms: 120,
  firstMs: 40,
  status: 'ok',
  ...row,
});
