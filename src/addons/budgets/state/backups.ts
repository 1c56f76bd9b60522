import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { AlertSink } from '../../../core/ports/alert.ts';
import type { Clock } from '../../../plugin/index.ts';
import type { BudgetFamilies } from '../metrics.ts';
import type { BackupSettings } from '../settings/state.ts';
import type { StoreHandle } from '../../../core/ports/store-handle.ts';

const UNFINISHED = '.unfinished';
/** Time of failures after which the alert is repeated. */
const REPEAT_MS = 86_400_000;
const NAME = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z$/;

interface BackupsSetup {
  readonly clock: Clock;
  readonly log: Pick<Logger, 'error' | 'warn'>;
  readonly alerts: AlertSink;
  readonly families: BudgetFamilies;
}

/** Copies the state store at intervals, each time to a new folder, and removes the oldest copies. */
export class Backups {
  readonly #setup: BackupsSetup;
  readonly #settings: BackupSettings;
  readonly #state: StoreHandle;
  #stopTimer = (): void => {};
  #running: Promise<void> = Promise.resolve();
  #isStopped = false;
  /** When an alert was raised; undefined: the last backup was made. */
  #alertedAt: number | undefined;

  constructor(setup: BackupsSetup, settings: BackupSettings, state: StoreHandle) {
    this.#setup = setup;
    this.#settings = settings;
    this.#state = state;
  }

  /** Makes the first backup at once: a start may follow an upgrade. */
  start(): void {
    if (this.#isStopped) return;
    this.#running = this.#back().then(() => {
      if (this.#isStopped) return;
      this.#stopTimer = this.#setup.clock.after(this.#settings.everyMs, () => this.start());
    });
  }

  stop(): Promise<void> {
    this.#isStopped = true;
    this.#stopTimer();
    return this.#running;
  }

  /** Never rejects. */
  async #back(): Promise<void> {
    const { clock, log, families } = this.#setup;
    const { store } = this.#state;
    // The next backup comes soon, and the log has the reason of the store.
    if (!store) return;
    const { dir } = this.#settings;
    const name = new Date(clock.wall()).toISOString().replaceAll(':', '-');
    try {
      mkdirSync(dir, { recursive: true, mode: 0o700 });
      this.#tidy();
      const copy = join(dir, name + UNFINISHED);
      await store.backup(copy);
      renameSync(copy, join(dir, name));
      this.#tidy();
      families.stateBackup.set({}, clock.wall() / 1000);
      this.#alertedAt = undefined;
    } catch (err) {
      families.stateBackupFailures.add({});
      log.error({ err }, 'the state store could not be backed up');
      this.#alert(err);
    }
  }

  #alert(error: unknown): void {
    const { clock, alerts } = this.#setup;
    const now = clock.now();
    if (this.#alertedAt !== undefined && now - this.#alertedAt < REPEAT_MS) return;
    this.#alertedAt = now;
    const { dir } = this.#settings;
    alerts.raise({
      kind: 'backup_failure',
      nodes: [],
      text: `The state store could not be copied to ${dir}.`,
      // The system's code alone: messages of the driver may quote what they could not write.
      data: { dir, reason: codeOf(error) },
      once: undefined,
    });
  }

  /** Removes what an interrupted backup left, and the oldest ones. Other names in the folder stay. */
  #tidy(): void {
    const { dir, keep } = this.#settings;
    const names = readdirSync(dir);
    const whole = names.filter((name) => NAME.test(name)).sort();
    const unfinished = names.filter(
      (name) => name.endsWith(UNFINISHED) && NAME.test(name.slice(0, -UNFINISHED.length)),
    );
    for (const name of [...whole.slice(0, Math.max(0, whole.length - keep)), ...unfinished])
      rmSync(join(dir, name), { recursive: true, force: true });
  }
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown';
