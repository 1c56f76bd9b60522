import type { Logger } from 'pino';
import type { Clock } from '../../plugin/index.ts';
import type { Metrics } from '../record/metrics/registry.ts';
import { EXPIRES_SOON_MS, type TlsFiles } from '../settings/read/tls-files.ts';

interface CertificatesSetup {
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
  readonly metrics: Pick<Metrics, 'families'>;
}

const CHECK_MS = 12 * 3600 * 1000;
const DAY_MS = 24 * 3600 * 1000;

/** The certificates of the listeners in force: when they expire, as a metric, and as warnings while there is time. */
export class Certificates {
  readonly #setup: CertificatesSetup;
  #ends: readonly { readonly listener: string; readonly expiresAt: number }[] = [];
  #stopTimer: (() => void) | undefined;

  constructor(setup: CertificatesSetup) {
    this.#setup = setup;
  }

  apply({ data, admin }: TlsFiles): void {
    const { tlsExpiry } = this.#setup.metrics.families;
    this.#ends = Object.entries({ data, admin }).flatMap(([listener, identity]) =>
      identity ? [{ listener, expiresAt: identity.expiresAt }] : [],
    );
    tlsExpiry.reset();
    for (const { listener, expiresAt } of this.#ends) tlsExpiry.set({ listener }, expiresAt / 1000);
    this.stop();
    if (this.#ends.length > 0) this.#warn();
  }

  /** One line for each certificate that expires soon, for `/readyz?verbose`. Readiness does not depend on it. */
  lines(): readonly string[] {
    const now = this.#setup.clock.wall();
    return this.#soon(now).map(
      ({ listener, expiresAt }) => `the certificate of the listener ${listener} ${when(expiresAt, now)}`,
    );
  }

  stop(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }

  #warn(): void {
    const { clock, log } = this.#setup;
    const now = clock.wall();
    for (const { listener, expiresAt } of this.#soon(now))
      log.warn(
        { listener, expires_at: new Date(expiresAt).toISOString() },
        `the certificate of a listener ${when(expiresAt, now)}; write the new one to the same files`,
      );
    this.#stopTimer = clock.after(CHECK_MS, () => this.#warn());
  }

  #soon = (now: number) => this.#ends.filter(({ expiresAt }) => expiresAt - now < EXPIRES_SOON_MS);
}

const when = (expiresAt: number, now: number): string =>
  expiresAt <= now ? 'has expired' : `expires in ${Math.floor((expiresAt - now) / DAY_MS)} days`;
