import type { BoundedRecord } from '../../../core/record/bounded-record.ts';
import { recordText } from '../../../core/record/json.ts';
import type { Clock } from '../../../plugin/index.ts';
import type { KeptRow } from './record-file.ts';

const WAIT_MS = 100;
const MAX_BYTES = 256 * 1024;

/** Records of a process on their way to the disk, in batches. */
export class RecordBatches {
  readonly #clock: Clock;
  readonly #take: (rows: readonly KeptRow[]) => void;
  #rows: KeptRow[] = [];
  #bytes = 0;
  #latestAt = 0;

  constructor(clock: Clock, take: (rows: readonly KeptRow[]) => void) {
    this.#clock = clock;
    this.#take = take;
  }

  add(record: BoundedRecord): void {
    const json = recordText(record);
    if (this.#rows.length === 0) this.#clock.after(WAIT_MS, () => this.flush());
    const at = Math.max(this.#latestAt + 1, Math.floor((record.receivedAt + record.durationMs) * 1000));
    this.#latestAt = at;
    this.#rows.push([at, record.id, json]);
    this.#bytes += json.length;
    if (this.#bytes >= MAX_BYTES) this.flush();
  }

  flush(): void {
    if (this.#rows.length === 0) return;
    const rows = this.#rows;
    this.#rows = [];
    this.#bytes = 0;
    this.#take(rows);
  }
}
