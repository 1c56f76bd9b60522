import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { exchangesIn } from '../../src/addons/captures/file/recordings.ts';
import type { CapturedExchange } from '../../src/addons/captures/file/captured.ts';
import { startReplay, type Replay } from '../../src/addons/captures/cli/replay.ts';
import { send, type Answer } from '../admin/kit.ts';
import type { TestGateway } from '../support/gateway.ts';

/** The listener for operators lets everyone of this machine capture. */
export const CAPTURING = { admin: { port: 0, role: 'admin', content: true } };

export const askAdmin = ({ gateway }: TestGateway, method: string, path: string, body?: unknown): Promise<Answer> =>
  send(gateway.admin!.url, method, `/admin/v1${path}`, { body });

export async function startCapture(gateway: TestGateway, body: object): Promise<string> {
  const { status, json, text } = await askAdmin(gateway, 'POST', '/captures', body);
  if (status !== 201) throw new Error(`no capture: ${status} ${text}`);
  return json.id as string;
}

export interface FetchedCapture {
  readonly text: string;
  readonly exchanges: readonly CapturedExchange[];
}

export async function fetchCapture(gateway: TestGateway, id: string): Promise<FetchedCapture> {
  const { text } = await askAdmin(gateway, 'GET', `/captures/${id}`);
  return { text, exchanges: exchangesIn(text, id) };
}

/** Serves a capture for the rest of the test. */
export async function replayOf(text: string, isFast = true): Promise<Replay & { readonly misses: readonly string[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-capture-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'capture.jsonl');
  writeFileSync(file, text);
  const misses: string[] = [];
  const replay = await startReplay({ paths: [file], port: 0, isFast, err: (miss) => misses.push(miss) });
  onTestFinished(() => replay.close());
  return { ...replay, misses };
}

export const textOf = ({ reply }: CapturedExchange): string =>
  reply.pieces.map(([, bytes]) => (typeof bytes === 'string' ? bytes : bytes.base64)).join('');
