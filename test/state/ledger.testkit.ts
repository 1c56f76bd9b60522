import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { startGateway } from '../../src/core/process/gateway.ts';
import type { Gateway } from '../../src/core/process/running-gateway.ts';
import type { LedgerRow } from '../../src/core/ports/ledger.ts';
import { KEY, writeSettings, type TestSettings } from '../support/gateway.ts';
import { entriesFor, startUpstream, type Script, type ScriptedUpstream } from '../support/upstream.ts';

/** USD per million tokens: a token of the prompt costs 1,000 nano-USD, one of the answer 10,000. */
export const PRICES = { prices: [{ model: '*', usd: { input: 1, output: 10 } }] };

export const usageOf = (input: number, output: number) => ({
  usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
});

export interface LedgerGateway {
  readonly gateway: Gateway;
  readonly upstream: ScriptedUpstream;
  /** The folder of the state store. */
  readonly folder: string;
  readonly configs: string;
  post(
    body?: object,
    more?: { readonly config?: string; readonly signal?: AbortSignal; readonly id?: string },
  ): Promise<Response>;
  /** The rows of the ledger when it has at least so many. */
  rows(least?: number): Promise<LedgerRow[]>;
  /** Another gateway with the same settings, when this one has ended. */
  again(): Promise<Pick<LedgerGateway, 'rows'>>;
  close(): Promise<void>;
}

interface LedgerSettings extends Omit<TestSettings, 'server'> {
  readonly server?: object;
  /** Further entries of the catalog, for the address of the upstream. */
  readonly entries?: readonly ((url: string) => object)[];
  /** Called with the folder of the store before the gateway starts. */
  readonly prepare?: (folder: string) => void;
}

/** A gateway with a state store on disk and a scripted upstream. Explain has no store to compare with, so this is no `startTestGateway`. */
export async function startLedger(
  script: Script,
  { server = {}, prepare, entries = [], ...settings }: LedgerSettings = {},
): Promise<LedgerGateway> {
  const folder = join(mkdtempSync(join(tmpdir(), 'gatehouse-ledger-')), 'state');
  const upstream = await startUpstream(script);
  const configs = writeSettings({
    catalog: {
      providers: [
        ...entriesFor(upstream.url),
        ...entries.map((entry) => entry(upstream.url)),
        { slug: 'gpt', provider: 'openai', api_key: '${env:NONE:-key}', base_url: upstream.url, allow_insecure: true },
      ],
    },
    prices: PRICES,
    ...settings,
    server: { state: { store: { type: 'sqlite', dir: folder } }, ...server },
  });
  prepare?.(folder);
  const gateway = await startGateway({ configs, env: {}, logTo: { write() {} } });
  const others: Gateway[] = [];
  let isClosed = false;
  const close = async (): Promise<void> => {
    if (isClosed) return;
    isClosed = true;
    await gateway.close();
    for (const other of others) await other.close();
    await upstream.close();
  };
  onTestFinished(async () => {
    await close();
    rmSync(configs, { recursive: true });
    rmSync(join(folder, '..'), { recursive: true });
  });
  return {
    gateway,
    upstream,
    folder,
    configs,
    close,
    post: (body = {}, { config, signal, id } = {}) =>
      fetch(`${gateway.data.url}/v1/chat/completions`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-gateway-api-key': KEY,
          ...(config !== undefined && { 'x-gateway-config': config }),
          ...(id !== undefined && { 'x-request-id': id }),
        },
        body: JSON.stringify({
          model: '@openai/m',
          max_tokens: 1000,
          messages: [{ role: 'user', content: 'hi' }],
          ...body,
        }),
        ...(signal && { signal }),
      }),
    rows: (least = 1) => rowsOf(gateway, least),
    async again() {
      const next = await startGateway({ configs, env: {}, logTo: { write() {} } });
      others.push(next);
      return { rows: (least = 1) => rowsOf(next, least) };
    },
  };
}

const LIMIT_MS = 60_000;

async function rowsOf({ state }: Gateway, least: number): Promise<LedgerRow[]> {
  const from = performance.now();
  for (;;) {
    const rows: LedgerRow[] = [];
    for await (const piece of state!.store!.ledger.rows({ from: 0, to: Date.now() + 1000 })) rows.push(...piece);
    if (rows.length >= least) return rows;
    if (performance.now() - from > LIMIT_MS) throw new Error(`the ledger has ${rows.length} rows, not ${least}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
