import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ANN, KEYS } from '../../src/addons/budgets/store/contract/opened-store.testkit.ts';
import { StateFailure } from '../../src/core/ports/failures.ts';
import type { LedgerRow } from '../../src/core/ports/ledger.ts';
import type { EntityChange, EntityDoc } from '../../src/core/ports/entities.ts';
import type { StateStore } from '../../src/core/ports/store.ts';
import { startGateway } from '../../src/core/process/gateway.ts';
import type { Gateway } from '../../src/core/process/running-gateway.ts';
import { digestOf } from '../../src/core/settings/compile/api-keys.ts';
import type { Clock } from '../../src/plugin/index.ts';
import { KEY, until, writeSettings } from '../support/gateway.ts';
import { startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

/** A gateway of a fleet in this process. */
export interface FleetGateway {
  readonly gateway: Gateway;
  /** The replica's own folder. */
  readonly dir: string;
  readonly logs: () => string;
  /** Calls the store until it answers: on a busy machine a connection may take longer than the second that a gateway waits. */
  store<Answer>(call: (store: StateStore) => Promise<Answer>): Promise<Answer>;
  /** The status of one request. */
  ask(key?: string): Promise<number>;
  rows(): Promise<LedgerRow[]>;
  close(): Promise<void>;
}

/** What a request costs: 100 tokens of the prompt and 100 of the answer, at 1 and 10 USD for a million. */
export const COST = 1_100_000;
const OUTPUT = 100;
const MOST_TRIES = 20;
const PAUSE_MS = 250;

/** An upstream whose replies cost `COST`. */
export const startFleetUpstream = (): Promise<ScriptedUpstream> =>
  startUpstream((_, res) => {
    res.setHeader('content-type', 'application/json');
    res.end(
      JSON.stringify({
        id: 'c',
        object: 'chat.completion',
        created: 1,
        model: 'm',
        choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'hello' } }],
        usage: { prompt_tokens: 100, completion_tokens: OUTPUT, total_tokens: 100 + OUTPUT },
      }),
    );
  });

/** A busy machine may need several looks. */
export const answers = ({ gateway }: FleetGateway): Promise<void> =>
  until(() => gateway.state?.store !== undefined, 'the store answers');

interface FleetSetup {
  /** The address of the database. */
  readonly url: string;
  /** Of the upstream. */
  readonly upstream: string;
  readonly state?: object;
  readonly store?: object;
  /** Of an earlier gateway. */
  readonly dir?: string;
  /** Further keys of `server.yaml`. */
  readonly server?: object;
  readonly clock?: Clock;
}

export async function startFleetGateway({
  url,
  upstream,
  state,
  store,
  dir,
  server,
  clock,
}: FleetSetup): Promise<FleetGateway> {
  const own = dir ?? mkdtempSync(join(tmpdir(), 'gatehouse-replica-'));
  const configs = writeSettings({
    server: {
      ...server,
      default_config: 'default',
      state: {
        store: { type: 'postgres', url: '${env:DATABASE_URL}', ...store },
        dir: own,
        owns: ['keys', 'teams', 'budgets'],
        encryption_keys: '${env:ENCRYPTION_KEYS}',
        ...state,
      },
    },
    catalog: {
      providers: [
        { slug: 'gpt', provider: 'openai', api_key: '${env:NONE:-key}', base_url: upstream, allow_insecure: true },
      ],
    },
    prices: { prices: [{ model: '*', usd: { input: 1, output: 10 } }] },
    gateway: { default: { provider: '@gpt' } },
  });
  const lines: string[] = [];
  const gateway = await startGateway({
    configs,
    env: { DATABASE_URL: url, ENCRYPTION_KEYS: KEYS },
    logTo: { write: (line) => void lines.push(line) },
    ...(clock && { clock }),
  });
  const calling: FleetGateway['store'] = async (call) => {
    for (let tries = 1; ; tries += 1)
      try {
        await until(() => gateway.state?.store !== undefined, 'the store answers');
        return await call(gateway.state!.store!);
      } catch (error) {
        if (tries === MOST_TRIES || !(error instanceof StateFailure) || error.code !== 'unavailable') throw error;
        await sleep(PAUSE_MS);
      }
  };
  return {
    gateway,
    dir: own,
    logs: () => lines.join(''),
    store: calling,
    async ask(key = KEY) {
      const reply = await fetch(`${gateway.data.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-gateway-api-key': key },
        body: JSON.stringify({ model: 'm', max_tokens: OUTPUT, messages: [{ role: 'user', content: 'hi' }] }),
      });
      await reply.arrayBuffer();
      return reply.status;
    },
    rows: () =>
      calling(async ({ ledger }) => {
        const rows: LedgerRow[] = [];
        for await (const piece of ledger.rows({ from: 0, to: Date.now() + 86_400_000 })) rows.push(...piece);
        return rows;
      }),
    async close() {
      await gateway.close();
      rmSync(configs, { recursive: true });
      if (dir === undefined) rmSync(own, { recursive: true, force: true });
    },
  };
}

export const secretOf = (letter: string): string => `gatehouse_abcdefghijkl_${letter.repeat(43)}012345`;

export const putKey = (id: string, key: string, doc: EntityDoc = {}): EntityChange => ({
  op: 'put',
  kind: 'keys',
  id,
  doc,
  digests: [{ slot: 0, digest: digestOf(key), last4: key.slice(-4), validFrom: 0, validTo: undefined }],
});

export const write = ({ store }: FleetGateway, ...changes: EntityChange[]): Promise<number> =>
  store(({ entities }) => entities.write(changes, ANN));

/** Requests of a key, one after the other on each gateway, until it is stopped. */
export function load(gateways: readonly FleetGateway[], key: string) {
  const statuses = new Map<number, number>();
  const run = { isOver: false };
  const over = Promise.all(
    gateways.map(async ({ ask }) => {
      while (!run.isOver) {
        const status = await ask(key);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        await sleep(10);
      }
    }),
  );
  return {
    statuses,
    get count() {
      return [...statuses.values()].reduce((sum, one) => sum + one, 0);
    },
    async stop() {
      run.isOver = true;
      await over;
    },
  };
}
