import { readFileSync } from 'node:fs';

const SAMPLE_MS = 5_000;

/** Memory of a process and its workers, in MiB. */
function memoryOf(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const pattern = new RegExp(`${field}:\\s+(\\d+)`);
  const kilobytes = (one: string): number =>
    Number(pattern.exec(readFileSync(`/proc/${one}/status`, 'utf8'))?.[1] ?? 0);
  const workers = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  return [String(pid), ...workers].reduce((sum, one) => sum + kilobytes(one), 0) / 1024;
}

export const peakMemory = (pid: number): number => memoryOf(pid, 'VmHWM');

/** Samples the memory of a process while it works. */
export class MemoryWatch {
  readonly #samples: number[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor(pid: number) {
    this.#timer = setInterval(() => this.#samples.push(memoryOf(pid, 'VmRSS')), SAMPLE_MS);
  }

  /** Medians of the first, the second and the last third of the time, in MiB. */
  stop(): readonly [number, number, number] {
    clearInterval(this.#timer);
    const third = Math.ceil(this.#samples.length / 3);
    const median = (part: number): number => {
      const sorted = this.#samples.slice(part * third, (part + 1) * third).toSorted((a, b) => a - b);
      return sorted[sorted.length >> 1] ?? 0;
    };
    return [median(0), median(1), median(2)];
  }
}
