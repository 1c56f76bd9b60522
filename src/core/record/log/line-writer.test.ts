import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineWriter, type Dropped, type DropReason, type LineWriterSystem } from './line-writer.ts';
import { runs } from '../../../../test/support/effort.ts';

const failure = (code: string): NodeJS.ErrnoException => Object.assign(new Error(code), { code });

/** Results of the next writes: an error code, or the number of bytes written. */
type Answer = string | number;

class Descriptor implements LineWriterSystem {
  text = '';
  time = 0;
  /** Used in turn; afterwards every write succeeds. */
  readonly answers: Answer[];
  readonly #due: (() => void)[] = [];
  readonly #timers: (() => void)[] = [];

  constructor(answers: readonly Answer[] = []) {
    this.answers = [...answers];
  }

  write(_: number, data: string | Buffer, written: (error: NodeJS.ErrnoException | null, bytes: number) => void): void {
    this.#due.push(() => {
      try {
        written(null, this.writeSync(0, Buffer.from(data)));
      } catch (error) {
        written(error as NodeJS.ErrnoException, 0);
      }
    });
  }

  writeSync(_: number, data: Buffer): number {
    const answer = this.answers.shift() ?? data.length;
    if (typeof answer === 'string') throw failure(answer);
    const taken = data.subarray(0, answer);
    this.text += taken.toString('latin1');
    return taken.length;
  }

  after(ms: number, task: () => void): void {
    this.#timers.push(() => {
      this.time += ms;
      task();
    });
  }

  now(): number {
    return this.time;
  }

  pause(ms: number): void {
    this.time += ms;
  }

  /** Runs one due write, or else one timer; returns whether there was one. */
  step(): boolean {
    const task = this.#due.shift() ?? this.#timers.shift();
    task?.();
    return task !== undefined;
  }

  run(): void {
    while (this.step());
  }
}

function open(answers: readonly Answer[] = [], batchBytes = 64) {
  const system = new Descriptor(answers);
  const counted: Dropped = {};
  const recovered: Dropped[] = [];
  const onDrop = (reason: DropReason, lines: number): void => void (counted[reason] = (counted[reason] ?? 0) + lines);
  const writer = new LineWriter({ fd: 1, batchBytes, onDrop, onRecover: (dropped) => recovered.push(dropped), system });
  const write = (...lines: string[]): void => lines.forEach((line) => writer.write(`${line}\n`));
  const writeSoon = (...lines: string[]): void => lines.forEach((line) => writer.writeSoon(`${line}\n`));
  return { system, writer, write, writeSoon, counted, recovered };
}

/** A line of 64 KiB, including its line feed. */
const LONG = 'x'.repeat(64 * 1024 - 1);

describe('the line writer', () => {
  it('writes the first line at once, and later ones in batches', () => {
    const { system, write } = open([], 8);
    write('a', 'bc', 'def', 'gh', 'a line that is longer than a batch', 'i');
    const sizes: number[] = [];
    for (let before = 0; system.step(); before = system.text.length) sizes.push(system.text.length - before);
    expect(sizes).toEqual([2, 7, 3, 35, 2]);
    expect(system.text).toBe('a\nbc\ndef\ngh\na line that is longer than a batch\ni\n');
  });

  it.each([
    ['ENOSPC', 'no_space'],
    ['EDQUOT', 'no_space'],
    ['EPIPE', 'closed'],
    ['EIO', 'error'],
  ] as const)('drops and counts the lines that meet %s as %s, and writes those after it', (code, reason) => {
    const { system, write, counted, recovered } = open([code]);
    write('one', 'two');
    system.step();
    expect(counted).toEqual({ [reason]: 2 });
    write('three');
    system.run();
    expect([system.text, recovered]).toEqual(['three\n', [{ [reason]: 2 }]]);
  });

  it('retries on a full pipe and loses nothing', () => {
    const { system, write, counted, recovered } = open(['EAGAIN', 'EAGAIN', 3, 'EAGAIN']);
    write('hello', 'world');
    system.run();
    expect([system.text, counted, recovered]).toEqual(['hello\nworld\n', {}, []]);
  });

  it('buffers 1 MiB for a stalled reader, counts each further line, and reports after recovery', () => {
    const { system, write, counted, recovered } = open(Array.from({ length: 100 }, () => 'EAGAIN'));
    for (let line = 0; line < 40; line += 1) write(LONG);
    for (let round = 0; round < 50; round += 1) system.step();
    expect(counted).toEqual({ stalled: 24 });
    system.run();
    expect(system.text.length).toBe(1024 * 1024);
    expect(recovered).toEqual([{ stalled: 24 }]);
  });

  it('begins a new line after one that a full disk truncated', () => {
    const { system, write, counted } = open([4, 'ENOSPC', 'ENOSPC']);
    write('{"cut":1}');
    system.run();
    write('{"lost":1}');
    system.run();
    write('{"whole":1}', '{"whole":2}');
    system.run();
    expect(system.text).toBe('{"cu\n{"whole":1}\n{"whole":2}\n');
    expect(counted).toEqual({ no_space: 2 });
  });

  it('reports at most once a second', () => {
    const { system, write, recovered } = open(['ENOSPC', 3, 'ENOSPC', 3, 3]);
    for (const line of ['a1', 'a2', 'b1', 'b2', 'b3']) {
      write(line);
      system.run();
    }
    expect(recovered).toEqual([{ no_space: 1 }]);
    system.time += 1000;
    write('c');
    system.run();
    expect(recovered).toEqual([{ no_space: 1 }, { no_space: 1 }]);
  });

  it('writes the waiting lines at the end, and gives up on a full pipe in bounded time', () => {
    const { system, writer, write } = open(['EAGAIN', 3, 'EAGAIN', 'EAGAIN']);
    write('one', 'two');
    system.step();
    expect(writer.end()).toBe(0);
    expect(system.text).toBe('one\ntwo\n');

    const stuck = open(Array.from({ length: 1000 }, () => 'EAGAIN'));
    stuck.write('one', 'two');
    stuck.system.step();
    expect([stuck.writer.end(), stuck.system.time]).toEqual([2, expect.closeTo(500, -2)]);
    // A later exit hook may still log; it must not block.
    const { time } = stuck.system;
    stuck.write('late');
    expect(stuck.system.time).toBe(time);
  });

  it('gives up on a full disk at once', () => {
    const { system, writer, write } = open(['EAGAIN', 'ENOSPC']);
    write('one');
    system.step();
    expect([writer.end(), system.time]).toEqual([1, 0]);
  });

  it('gathers lines for 10 ms, or until they fill a batch', () => {
    const { system, writeSoon } = open([], 8);
    writeSoon('a', 'b');
    expect([system.step(), system.text, system.time]).toEqual([true, '', 10]);
    system.run();
    expect(system.text).toBe('a\nb\n');
    writeSoon('cdef', 'ghij', 'k');
    system.step();
    expect(system.text).toBe('a\nb\ncdef\n');
    system.run();
    expect(system.text).toBe('a\nb\ncdef\nghij\nk\n');
  });

  it('writes gathered lines at once with a line that may not wait, before it', () => {
    const { system, write, writeSoon } = open();
    writeSoon('a', 'b');
    write('now');
    expect(system.time).toBe(0);
    system.run();
    expect(system.text).toBe('a\nb\nnow\n');
  });

  it('reports nothing while every write fails, though lines were still gathering', () => {
    const { system, write, writeSoon, recovered } = open(['ENOSPC']);
    writeSoon('a');
    write('b');
    system.run();
    expect(recovered).toEqual([]);
    writeSoon('c');
    system.run();
    expect(recovered).toEqual([{ no_space: 2 }]);
  });

  it('writes gathered lines at the end, and later ones at once', () => {
    const { system, writer, writeSoon } = open();
    writeSoon('a');
    expect([writer.end(), system.text]).toEqual([0, 'a\n']);
    writeSoon('b');
    expect(system.text).toBe('a\nb\n');
  });

  it('writes only whole lines in order and counts all others, for any results of the descriptor', () => {
    const answer = fc.oneof(fc.nat(9), fc.constantFrom('EAGAIN', 'ENOSPC', 'EPIPE', 'EIO'));
    const line = fc.string({ unit: fc.constantFrom('a', 'é', '𝄞'), maxLength: 5 });
    fc.assert(
      fc.property(fc.array(answer), fc.array(fc.tuple(line, fc.nat(3), fc.boolean())), (answers, steps) => {
        const { system, write, writeSoon, counted } = open(answers, 8);
        const lines = steps.map(([text], index) => `${index}:${text}.`);
        for (const [index, [, turns, soon]] of steps.entries()) {
          if (soon) writeSoon(lines[index]!);
          else write(lines[index]!);
          for (let turn = 0; turn < turns; turn += 1) system.step();
        }
        system.run();
        const text = Buffer.from(system.text, 'latin1').toString();
        const whole = text.split('\n').filter((found) => lines.includes(found));
        expect(whole).toEqual(lines.filter((found) => whole.includes(found)));
        const dropped = Object.values(counted).reduce((sum, count) => sum + count, 0);
        expect(whole.length + dropped).toBe(lines.length);
      }),
      { numRuns: runs(1000) },
    );
  });
});
