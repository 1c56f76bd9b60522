import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { RecordFolder, type KeptRow } from './record-file.ts';

const START = Date.UTC(2026, 10, 20);
const DAY_MS = 86_400_000;

function open(limits: { days?: number; maxBytes?: number } = {}): { folder: RecordFolder; path: string } {
  const path = mkdtempSync(join(tmpdir(), 'gatehouse-records-'));
  const folder = new RecordFolder({ folder: path, days: 3, maxBytes: 1 << 24, ...limits });
  onTestFinished(() => {
    folder.close();
    rmSync(path, { recursive: true, force: true });
  });
  return { folder, path };
}

const row = (at: number, id: string, more: object = {}): KeptRow => [
  at * 1000,
  id,
  JSON.stringify({ request_id: id, time: new Date(at).toISOString(), state: 'complete', duration_ms: 1, ...more }),
];
const idsOf = (lines: readonly { readonly line: object }[]) =>
  lines.map(({ line }) => ('request_id' in line ? line.request_id : undefined));

describe('records on disk', () => {
  it('have pages over the files of several days, each after the one before', () => {
    const { folder } = open();
    for (const day of [0, 1, 2])
      folder.add(
        [1, 2].map((second) => row(START + day * DAY_MS + second * 1000, `${day}-${second}`)),
        START + day * DAY_MS,
      );
    const seen: unknown[] = [];
    let after: { running: boolean; at: number } | undefined;
    for (let more = true; more;) {
      const page = folder.page({ limit: 2, ...(after && { after }) });
      seen.push(...idsOf(page.lines));
      ({ more } = page);
      after = { running: false, at: page.last! };
    }
    expect(seen).toEqual(['2-2', '2-1', '1-2', '1-1', '0-2', '0-1']);
    expect(folder.page({ limit: 9, since: START + DAY_MS })).toMatchObject({ more: false, lines: { length: 4 } });
    expect(idsOf(folder.page({ limit: 9, until: START + DAY_MS }).lines)).toEqual(['0-2', '0-1']);
  });

  it('are found by their id, the latest of several, and filtered as those in memory', () => {
    const { folder } = open();
    folder.add([row(START, 'same', { key_id: 'a' }), row(START + 5, 'same', { key_id: 'b' })], START);
    expect(JSON.parse(folder.find('same')!)).toMatchObject({ key_id: 'b' });
    expect(folder.find('none')).toBeUndefined();
    expect(folder.page({ limit: 9, key: ['a'] }).lines).toMatchObject([{ line: { key_id: 'a' } }]);
    expect(folder.page({ limit: 9, state: 'failed' }).lines).toEqual([]);
  });

  it('are removed after their days, and the oldest first when they are too many bytes', () => {
    const { folder, path } = open({ days: 2, maxBytes: 800_000 });
    const names = () => readdirSync(path).filter((name) => name.endsWith('.db'));
    for (const day of [0, 1, 2, 3]) folder.add([row(START + day * DAY_MS, `${day}`)], START + day * DAY_MS);
    expect(names()).toEqual(['2026-11-21-001.db', '2026-11-22-001.db', '2026-11-23-001.db']);
    const large = { metadata: { text: 'x'.repeat(50_000) } };
    for (let count = 0; count < 60; count += 1)
      folder.add([row(START + 3 * DAY_MS + count + 1, `large-${count}`, large)], START + 3 * DAY_MS);
    expect(names().length).toBeLessThanOrEqual(9);
    expect(folder.find('large-59')).toBeDefined();
    expect(folder.find('large-0')).toBeUndefined();
  });
});
