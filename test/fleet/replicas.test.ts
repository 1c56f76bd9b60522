import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEYS } from '../../src/addons/budgets/store/contract/opened-store.testkit.ts';
import { ADMIN_TOKEN, entrySpec, FILE_KEY, send, type Answer } from '../admin/kit.ts';
import { freePort, GatewayProcess } from '../money/gateway.ts';
import { MAIN } from '../support/built.ts';
import { until, writeSettings } from '../support/gateway.ts';
import { postgresMissing, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { json, openaiReply, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

const missing = postgresMissing();
const SECRET = 'sk-canary-of-replicas-0123456789';
const ANY = { 'if-match': '*' };
/** Connections, which the primary deals out to its workers in turn. */
const LOOKS = 8;

interface Replica {
  readonly configs: string;
  readonly gateway: GatewayProcess;
  ask(method: string, path: string, body?: object, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** The different statuses of some requests, each on a connection of its own. */
  statuses(model: string): Promise<readonly number[]>;
}

describe.skipIf(missing !== undefined)(
  `an entry of the catalog that one process of a fleet writes${missing === undefined ? '' : ` (${missing})`}`,
  () => {
    let top: string;
    let server: TestPostgres;
    let upstream: ScriptedUpstream;
    let one: Replica;
    let other: Replica;
    const ended: (() => unknown)[] = [];

    async function start(name: string, ...workers: readonly string[]): Promise<Replica> {
      const [port, status, admin] = [await freePort(), await freePort(), await freePort()];
      const loopback = (own: number): object => ({ host: '127.0.0.1', port: own });
      const configs = writeSettings({
        server: {
          listen: loopback(port),
          status: loopback(status),
          admin: { port: admin, token: '${env:TOKEN}', role: 'admin' },
          drain: { delay: '0s' },
          default_config: 'default',
          state: {
            store: { type: 'postgres', url: '${env:DATABASE_URL}' },
            dir: join(top, name),
            owns: ['providers'],
            encryption_keys: '${env:KEYS}',
          },
        },
        keys: `keys:\n  - id: test\n    key: ${FILE_KEY}\n`,
        catalog: { providers: [{ slug: 'sim', provider: 'simulator' }] },
        gateway: { default: {} },
      });
      const gateway = new GatewayProcess(['--configs', configs, ...workers], `http://127.0.0.1:${status}`, MAIN);
      ended.push(async () => {
        await gateway.end('SIGTERM');
        rmSync(configs, { recursive: true, force: true });
      });
      await gateway.start({ DATABASE_URL: server.url(), TOKEN: ADMIN_TOKEN, KEYS });
      return {
        configs,
        gateway,
        ask: (method, path, body, headers = {}) =>
          send(`http://127.0.0.1:${admin}`, method, `/admin/v1${path}`, { token: ADMIN_TOKEN, body, headers }),
        async statuses(model) {
          const statuses = new Set<number>();
          for (let look = 0; look < LOOKS; look += 1) {
            const reply = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
              method: 'POST',
              headers: { 'content-type': 'application/json', authorization: `Bearer ${FILE_KEY}`, connection: 'close' },
              body: JSON.stringify({ model, max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }),
            });
            await reply.arrayBuffer();
            statuses.add(reply.status);
          }
          return [...statuses];
        },
      };
    }

    beforeAll(async () => {
      top = mkdtempSync(join(tmpdir(), 'gatehouse-replicas-'));
      server = await startPostgres();
      upstream = await startUpstream((_, res) => json(res, openaiReply('hello')));
      [one, other] = [await start('one'), await start('other', '--workers', '2')];
    }, 600_000);
    afterAll(async () => {
      for (const end of ended) await end();
      await upstream?.close();
      await server?.end();
      rmSync(top, { recursive: true, force: true });
    }, 600_000);

    const spec = (more: object = {}): object => entrySpec(upstream.url, { api_key: SECRET, ...more });
    const serves = (replica: Replica, model: string, status: number): Promise<void> =>
      until(async () => String(await replica.statuses(model)) === String(status), `all workers answer with ${status}`);
    /** By release and host both are equal: the ones that have refused a reload. */
    const refusals = async (): Promise<readonly string[]> => {
      const answer = await one.ask('GET', '/replicas');
      expect(answer.text).not.toContain(SECRET);
      const { items } = answer.json as { items: readonly { refused_reload: { problem: string } | null }[] };
      expect(items).toHaveLength(2);
      return items.flatMap(({ refused_reload: refused }) => refused?.problem ?? []);
    };

    it('serves in all workers of the other one, as it is changed and until it is deleted', async () => {
      expect((await one.ask('POST', '/providers', { id: 'openai', spec: spec() })).status).toBe(201);
      await serves(other, '@openai/gpt-5', 200);
      expect((await other.ask('PATCH', '/providers/openai', { spec: { models: ['o3'] } }, ANY)).status).toBe(200);
      expect(await other.statuses('@openai/o3')).toEqual([200]);
      await serves(one, '@openai/o3', 200);
      expect((await one.ask('DELETE', '/providers/openai', undefined, ANY)).status).toBe(204);
      await serves(other, '@openai/o3', 400);
      expect(await refusals()).toEqual([]);
    }, 600_000);

    it('is written by none where one worker refuses it', async () => {
      const refused = await other.ask('POST', '/providers', { id: 'broken', spec: spec({ credentials: 'none' }) });
      expect(refused.status).toBe(422);
      expect((await one.ask('GET', '/providers/broken')).status).toBe(404);
      expect(await other.statuses('@broken/gpt-5')).toEqual([400]);
    }, 600_000);

    it('stays as it was in all workers of a process whose files need it, which every process shows', async () => {
      expect((await one.ask('POST', '/providers', { id: 'kept', spec: spec() })).status).toBe(201);
      await serves(other, '@kept/gpt-5', 200);
      const named = join(other.configs, 'gateway/named.yaml');
      writeFileSync(named, 'provider: "@kept"\n');
      const reloads = (): Promise<number> => other.gateway.metric('gatehouse_config_reloads_total', 'success');
      const before = await reloads();
      process.kill(other.gateway.pid, 'SIGHUP');
      await until(async () => (await reloads()) > before, 'the files are in force');
      expect((await one.ask('DELETE', '/providers/kept', undefined, ANY)).status).toBe(204);
      await until(async () => (await refusals()).some((text) => text.includes('named.yaml:1')), 'the refusal is shown');
      expect(await one.statuses('@kept/gpt-5')).toEqual([400]);
      expect(await other.statuses('@kept/gpt-5')).toEqual([200]);
      rmSync(named);
      process.kill(other.gateway.pid, 'SIGHUP');
      await serves(other, '@kept/gpt-5', 400);
      await until(async () => (await refusals()).length === 0, 'no refusal is left');
    }, 600_000);
  },
);
