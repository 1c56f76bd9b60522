import type { Lease } from '../http/gateway/path-settings.ts';
import type { Snapshot } from './snapshot.ts';

/** A snapshot with the number of its requests, closed once it is not current and the last of them has ended. */
class HeldSnapshot implements Lease {
  readonly snapshot: Snapshot;
  readonly #onClosed: () => void;
  #requests = 0;
  #current = true;
  #closed: Promise<void> | undefined;

  constructor(snapshot: Snapshot, onClosed: () => void) {
    this.snapshot = snapshot;
    this.#onClosed = onClosed;
  }

  take(): void {
    this.#requests += 1;
  }

  /** Must be called once for every `take`, when the request's reply has ended. */
  release(): void {
    this.#requests -= 1;
    if (this.#requests === 0 && !this.#current) void this.close();
  }

  /** New requests use another snapshot from now on. */
  retire(): void {
    this.#current = false;
    if (this.#requests === 0) void this.close();
  }

  close(): Promise<void> {
    this.#closed ??= this.snapshot.close().finally(this.#onClosed);
    return this.#closed;
  }
}

/** The single pointer to the current snapshot, and the older snapshots that requests still use. */
export class LiveSnapshot {
  readonly #held = new Set<HeldSnapshot>();
  readonly #onRetired: () => void;
  #current: HeldSnapshot;

  /** @param onRetired called when an old snapshot has been closed */
  constructor(snapshot: Snapshot, onRetired: () => void) {
    this.#onRetired = onRetired;
    this.#current = this.#hold(snapshot);
  }

  get current(): Snapshot {
    return this.#current.snapshot;
  }

  /** Access tokens that requests may still need. */
  get tokenKeys(): ReadonlySet<string> {
    return new Set([...this.#held].flatMap(({ snapshot }) => [...snapshot.tokenKeys]));
  }

  /** Leases the current snapshot to a request, which keeps it until its reply has ended. */
  take(): Lease {
    this.#current.take();
    return this.#current;
  }

  swap(next: Snapshot): void {
    const old = this.#current;
    this.#current = this.#hold(next);
    old.retire();
  }

  /** Closes all snapshots, even those in use: the process is stopping. */
  async close(): Promise<void> {
    await Promise.all([...this.#held].map((held) => held.close()));
  }

  #hold(snapshot: Snapshot): HeldSnapshot {
    const held = new HeldSnapshot(snapshot, () => {
      this.#held.delete(held);
      if (held !== this.#current) this.#onRetired();
    });
    this.#held.add(held);
    return held;
  }
}
