import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { oneInFour } from '../support/effort.ts';
import { KEY, startTestGateway } from '../support/gateway.ts';
import { corpus, ownKeyFindings, refusesOwnKey } from './recordings.ts';

export interface Finding {
  readonly rule: string;
  readonly level: 'error' | 'note';
  readonly expected: unknown;
  readonly actual: unknown;
}
interface Checked {
  readonly id: string;
  readonly applicable: boolean;
  readonly strict: boolean;
  readonly findings: readonly Finding[];
}
interface Checker {
  check(record: unknown, got: unknown, options: { strict: boolean; prompt: 'inclusive' }): Checked;
  derive(record: unknown): { applicable: boolean };
}
interface Exchange {
  readonly id: string;
  readonly family: string;
  readonly response_status: number;
}
interface Got {
  readonly id: string;
  readonly strict: boolean;
  readonly status: number;
  readonly body: unknown;
}

export interface Outcome {
  readonly records: number;
  /** Records the checker itself can say something about. */
  readonly derivable: number;
  readonly checked: readonly Checked[];
  readonly unknown: number;
}

const lines = <T>(file: string): T[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);

/** Where a family's recordings are served from: Gemini's shapes are the same on both of Google's hosts. */
const PROVIDERS: Readonly<Record<string, object>> = {
  anthropic: { provider: 'anthropic', api_key: '${env:NONE:-replay-key}' },
  'vertex-anthropic': { provider: 'vertex-ai', project_id: 'test-project', region: 'us-central1' },
  gemini: { provider: 'vertex-ai', project_id: 'test-project', region: 'us-central1' },
  'vertex-gemini': { provider: 'vertex-ai', project_id: 'test-project', region: 'us-central1' },
};

/** Sends a chat request for the recordings of a family through a running gateway, strict and lax, and checks what came back. */
export async function driveFamily(family: string, split: 'bytes' | 'event'): Promise<Outcome> {
  const port = await freePort();
  const entry = { slug: 'replay', base_url: `http://127.0.0.1:${port}`, allow_insecure: true, ...PROVIDERS[family] };
  const gateway = await startTestGateway({ catalog: { providers: [entry] } });
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-corpus-'));
  try {
    const records = oneInFour('conformance', 0, lines<Exchange>(join(corpus, 'dev', `${family}.jsonl`)));
    const file = join(folder, 'records.jsonl');
    writeFileSync(file, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
    const out = join(folder, 'got.jsonl');
    const model = family === 'vertex-anthropic' ? '@replay/anthropic.replay--{id}' : '@replay/replay--{id}';
    const headers = ['--header', `x-gateway-api-key: ${KEY}`, '--header', 'authorization: Bearer caller-token'];
    const args = [
      '--file',
      file,
      '--gateway',
      gateway.url,
      '--out',
      out,
      '--replay-port',
      String(port),
      '--model',
      model,
      '--split',
      split,
      ...headers,
    ];
    await promisify(execFile)(process.execPath, [join(corpus, 'drive.mjs'), ...args]);
    const checker = (await import(pathToFileURL(join(corpus, 'check-shapes.mjs')).href)) as Checker;
    return judge(records, lines<Got>(out), checker);
  } finally {
    await gateway.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function judge(records: readonly Exchange[], got: readonly Got[], { check, derive }: Checker): Outcome {
  const byId = new Map(records.map((record) => [record.id, record]));
  const known = got.filter(({ id }) => byId.has(id));
  return {
    records: records.length,
    derivable: records.filter((record) => derive(record).applicable).length,
    unknown: got.length - known.length,
    checked: known.map((answer): Checked => {
      const record = byId.get(answer.id)!;
      const { id, strict } = answer;
      if (!refusesOwnKey(record)) return check(record, answer, { strict, prompt: 'inclusive' });
      const findings = ownKeyFindings(record, answer).map((finding) => ({ ...finding, level: 'error' as const }));
      return { id, strict, applicable: true, findings };
    }),
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
