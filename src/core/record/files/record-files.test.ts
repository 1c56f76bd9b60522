import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { boundRecord, type BoundedRecord } from '../bounded-record.ts';
import { createStillClock, endOf, streamedExchange, WALL } from '../exchange.testkit.ts';
import { recordJson, recordText } from '../json.ts';
import { recordOf } from '../make-record.ts';
import { anyRecord } from '../records.testkit.ts';
import { RecordFiles, type RecordFilesOptions, type RecordFilesSettings } from './record-files.ts';

const made: string[] = [];
afterEach(() => {
  for (const dir of made.splice(0)) rmSync(dir, { recursive: true, force: true });
});

const record: BoundedRecord = boundRecord(recordOf(streamedExchange(), endOf(), { endedAt: 1305, receivedAt: WALL }));
const lineBytes = recordText(record).length + 1;

function open(limits: Partial<RecordFilesSettings> = {}, options: Partial<RecordFilesOptions> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-records-'));
  made.push(folder);
  const dir = join(folder, 'records');
  const settings = { dir, maxFileBytes: 1e6, maxBytes: 1e7, maxAgeMs: 1e9, ...limits };
  const clock = createStillClock();
  const dropped: Record<string, number> = {};
  const failures: string[] = [];
  const files = new RecordFiles({
    clock,
    process: '1',
    onDrop: (reason, lines) => (dropped[reason] = (dropped[reason] ?? 0) + lines),
    onFailure: ({ message }) => void failures.push(message),
    ...options,
  });
  files.apply(settings);
  const names = (): string[] => readdirSync(settings.dir).toSorted();
  return {
    files,
    settings,
    clock,
    dropped,
    failures,
    names,
    lines: () => names().map((name) => readFileSync(join(settings.dir, name), 'utf8').trimEnd().split('\n').length),
    async write(count: number) {
      for (let index = 0; index < count; index += 1) {
        files.write(record);
        await files.flush();
      }
    },
  };
}

describe('the files of records', () => {
  it('hold each record as one line, as the admin listener shows it', () => {
    fc.assert(
      fc.property(anyRecord, (any) => {
        expect(JSON.parse(recordText(any))).toEqual(recordJson(any));
        expect(recordText(any)).not.toContain('\n');
      }),
    );
  });

  it('are readable by the gateway alone, and begin with the first record', async () => {
    const { write, settings, names, files } = open();
    await files.flush();
    expect(() => names()).toThrow('ENOENT');
    await write(2);
    const [name = ''] = names();
    expect(name).toMatch(/^records-\d{8}T\d{6}Z-1-1\.jsonl$/);
    expect(statSync(join(settings.dir, name)).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(settings.dir, name), 'utf8')).toBe(`${recordText(record)}\n`.repeat(2));
    await files.close();
  });

  it('end at their size, and the oldest leave when all together reach theirs', async () => {
    const { write, lines, names, files } = open({ maxFileBytes: 2 * lineBytes, maxBytes: 6 * lineBytes });
    await write(5);
    expect(lines()).toEqual([2, 2, 1]);
    await write(6);
    expect(lines()).toEqual([2, 2, 1]);
    expect(names().map((name) => name.split('-').at(-1))).toEqual(['4.jsonl', '5.jsonl', '6.jsonl']);
    await files.close();
  });

  it('end after a quarter of their age, and old ones leave; other files stay', async () => {
    const { write, names, files, clock, settings } = open({ maxAgeMs: 4000 });
    await write(1);
    const [first = ''] = names();
    writeFileSync(join(settings.dir, 'notes.txt'), '');
    const old = (WALL - 60_000) / 1000;
    for (const name of [first, 'notes.txt']) utimesSync(join(settings.dir, name), old, old);
    clock.set(1000);
    await write(1);
    expect(names()).toEqual(['notes.txt', expect.stringMatching(/-2\.jsonl$/)]);
    await files.close();
  });

  it('that a full disk refuses cost their records, which are counted, and resume', async () => {
    let isFull = true;
    const written: string[] = [];
    const openFile = () =>
      Promise.resolve({
        bytes: 0,
        append(data: Buffer) {
          if (isFull) return Promise.reject(Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' }));
          written.push(data.toString());
          return Promise.resolve();
        },
        close: () => Promise.resolve(),
      });
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-records-'));
    made.push(folder);
    const { write, dropped, failures, clock } = open({ dir: folder }, { openFile });
    await write(3);
    expect(dropped).toEqual({ no_space: 3 });
    clock.set(1001);
    await write(1);
    expect(failures).toEqual(['ENOSPC: no space left']);
    isFull = false;
    clock.set(2002);
    await write(1);
    expect([written.length, dropped]).toEqual([1, { no_space: 4 }]);
  });

  it('in a folder that cannot be made cost their records', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-records-'));
    made.push(folder);
    writeFileSync(join(folder, 'file'), '');
    const { write, dropped, failures } = open({ dir: join(folder, 'file/records') });
    await write(2);
    expect(dropped).toEqual({ error: 2 });
    expect(failures).toHaveLength(1);
  });

  it('of a slow disk take a bounded number of bytes of memory', () => {
    const { files, dropped } = open();
    const fitting = Math.floor((4 * 1024 * 1024) / lineBytes);
    for (let index = 0; index < fitting + 5; index += 1) files.write(record);
    expect(dropped).toEqual({ stalled: 5 });
  });

  it('follow a change of the settings, and none are written without settings', async () => {
    const { files, settings, names, write } = open();
    await write(1);
    const moved = join(settings.dir, 'moved');
    files.apply({ ...settings, dir: moved });
    await write(1);
    expect(names()).toHaveLength(2);
    expect(readdirSync(moved)).toHaveLength(1);
    files.apply(undefined);
    await write(1);
    await files.close();
    expect(readdirSync(moved)).toHaveLength(1);
  });
});
