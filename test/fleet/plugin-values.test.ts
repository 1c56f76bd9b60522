import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startOutsideGateway, type OutsideGateway } from '../plugins/outside-gateway.ts';
import { postgresMissing, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { json, openaiReply } from '../support/upstream.ts';

const missing = postgresMissing();

/** Keeps the word that a client says, and answers with the word that is kept. */
const REMEMBERS = `
const said = ctx.exchange.request.headers['x-say'];
if (said !== undefined) await host.state.set('word', said);
ctx.set('x-kept', String(await host.state.get('word')));
await next();`;

describe.skipIf(missing !== undefined)(
  `the values of a plugin in PostgreSQL${missing === undefined ? '' : ` (${missing})`}`,
  () => {
    let server: TestPostgres;
    beforeAll(async () => {
      server = await startPostgres();
    }, 300_000);
    afterAll(() => server?.end());

    function start(): Promise<OutsideGateway> {
      const dir = mkdtempSync(join(tmpdir(), 'gatehouse-values-'));
      onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
      const store = { type: 'postgres', url: `\${env:NONE:-${server.url()}}` };
      return startOutsideGateway({
        plugins: [{ name: 'it', body: REMEMBERS, more: 'state: true' }],
        upstream: (_, res) => json(res, openaiReply('hello')),
        chains: { request: ['it', 'metadata', 'route'] },
        server: { state: { store, dir } },
      });
    }

    const heard = async (gateway: OutsideGateway, headers: Record<string, string> = {}): Promise<string | null> => {
      const reply = await gateway.chat({}, headers);
      await reply.text();
      return reply.headers.get('x-kept');
    };

    it('are the same in all gateways on the store, and outlive them', async () => {
      {
        await using one = await start();
        await using other = await start();
        expect([await heard(one), await heard(other)]).toEqual(['undefined', 'undefined']);
        expect([await heard(one, { 'x-say': 'hello' }), await heard(other)]).toEqual(['hello', 'hello']);
        expect([await heard(other, { 'x-say': 'again' }), await heard(one)]).toEqual(['again', 'again']);
      }
      await using later = await start();
      expect(await heard(later)).toBe('again');
    }, 120_000);
  },
);
