import type { Logger } from 'pino';
import type { BootRow, ShownBoot } from '../../../core/ports/boots.ts';
import type { Boot } from '../../../core/ports/counters.ts';
import type { Fleet } from '../../../core/ports/fleet.ts';
import type { OpenStore } from '../../../core/ports/store.ts';
import { messageOf } from '../../../core/kernel/outside/thrown.ts';
import { oneAtATime } from '../../../core/process/one-at-a-time.ts';
import type { Clock } from '../../../plugin/index.ts';
import type { BudgetFamilies } from '../metrics.ts';

const BEAT_MS = 5_000;
/** Time of the claim of the caretaker. */
const CARE_MS = 30_000;
/** The caretaker stops before its claim ends: clocks differ, and a task takes a while. */
const CARE_MARGIN_MS = 5_000;
/** Gateways with different settings are a rolling update for so long. */
const DIFFERENT_MS = 10 * 60_000;

interface MemberSetup {
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
  readonly families: Pick<BudgetFamilies, 'gateways' | 'settingsHashes'>;
  readonly boot: Boot;
  /** Undefined: this gateway shares its store with no other. */
  readonly shared: Pick<OpenStore, 'store'> | undefined;
  readonly version: () => number;
}

/** Shows this gateway to the others on its store, learns how many they are, and claims the tasks that one does for all. */
export class FleetMember implements Fleet {
  readonly #setup: MemberSetup;
  readonly #listeners: ((gateways: number) => void)[] = [];
  readonly #beat = oneAtATime(() => this.#beatNow());
  #running: Promise<void> = Promise.resolve();
  #shown: Omit<ShownBoot, 'version'> = { configHash: '', refused: undefined };
  #gateways = 1;
  /** Monotonic milliseconds. */
  #caresUntil = -Infinity;
  #differentSince: number | undefined;
  #hasWarned = false;
  #isStopped = false;
  #stopTimer = (): void => {};

  constructor(setup: MemberSetup) {
    this.#setup = setup;
  }

  get gateways(): number {
    return this.#gateways;
  }

  onGateways(listener: (gateways: number) => void): void {
    this.#listeners.push(listener);
  }

  get isCaretaker(): boolean {
    return !this.#setup.shared || this.#setup.clock.now() < this.#caresUntil;
  }

  self(): BootRow {
    const { boot, clock, version } = this.#setup;
    const { id, host, role, version: release, startedAt } = boot;
    return { id, host, role, release, startedAt, seenAt: clock.wall(), version: version(), ...this.#shown };
  }

  /** Resolves when the others may see this gateway, or the store does not answer. */
  start(configHash: string): Promise<void> {
    this.#shown = { ...this.#shown, configHash };
    if (!this.#setup.shared) return Promise.resolve();
    this.#beatLater();
    return this.#beatSoon();
  }

  /** @param shown what has changed */
  show(shown: Partial<Omit<ShownBoot, 'version'>>): void {
    this.#shown = { ...this.#shown, ...shown };
    if (this.#setup.shared) void this.#beatSoon();
  }

  /** Others need not wait for the end of its claims. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#stopTimer();
    await this.#running;
    const { shared, boot } = this.#setup;
    this.#caresUntil = -Infinity;
    try {
      await shared?.store?.claims.end('caretaker', boot.id);
      await shared?.store?.boots.ended(boot.id);
    } catch {
      // They end by themselves.
    }
  }

  #beatSoon(): Promise<void> {
    return (this.#running = this.#beat());
  }

  #beatLater(): void {
    if (this.#isStopped) return;
    this.#stopTimer = this.#setup.clock.after(BEAT_MS, () => {
      void this.#beatSoon();
      this.#beatLater();
    });
  }

  /** Never rejects: while the store does not answer, the last number of gateways counts. */
  async #beatNow(): Promise<void> {
    const { clock, log, boot, shared, version } = this.#setup;
    const store = shared?.store;
    if (!store || this.#isStopped) return;
    try {
      const from = clock.now();
      const { gateways, hashes } = await store.boots.seen(boot, { ...this.#shown, version: version() });
      const claim = await store.claims.take({ name: 'caretaker', holder: boot.id, text: boot.host, ms: CARE_MS });
      this.#caresUntil = claim.holder === boot.id ? from + CARE_MS - CARE_MARGIN_MS : -Infinity;
      this.#learn(Math.max(1, gateways), hashes);
    } catch (error) {
      log.warn({ reason: messageOf(error) }, 'the other gateways on the state store cannot be counted');
    }
  }

  #learn(gateways: number, hashes: number): void {
    const { families, clock, log } = this.#setup;
    families.gateways.set({}, gateways);
    families.settingsHashes.set({}, hashes);
    if (gateways !== this.#gateways) {
      this.#gateways = gateways;
      for (const listener of this.#listeners) listener(gateways);
    }
    if (hashes <= 1) {
      this.#differentSince = undefined;
      this.#hasWarned = false;
      return;
    }
    this.#differentSince ??= clock.now();
    if (this.#hasWarned || clock.now() - this.#differentSince < DIFFERENT_MS) return;
    this.#hasWarned = true;
    log.warn({ hashes, gateways }, 'the gateways on the state store have had different settings for ten minutes');
  }
}
