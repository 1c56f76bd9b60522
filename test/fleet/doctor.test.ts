import { rmSync } from 'node:fs';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { doctorCommand } from '../../src/addons/doctor/doctor.ts';
import type { Finding } from '../../src/core/process/finding.ts';
import { writeSettings } from '../support/gateway.ts';
import { postgresMissing, startPostgres, type TestPostgres } from '../support/postgres.ts';

const missing = postgresMissing();

describe.skipIf(missing !== undefined)(`doctor of a fleet${missing === undefined ? '' : ` (${missing})`}`, () => {
  let server: TestPostgres;
  beforeAll(async () => void (server = await startPostgres(['max_connections=20'])), 300_000);
  afterAll(() => server.end());

  async function doctor(url: string, store: object = {}): Promise<(check: string) => string> {
    const dir = writeSettings({
      server: {
        listen: { port: 0 },
        status: { port: 0 },
        state: {
          store: { type: 'postgres', url: '${env:DATABASE_URL}', ...store },
          dir: '/tmp',
          shared: { type: 'valkey', url: '${env:VALKEY_URL}' },
        },
      },
    });
    let text = '';
    const out = (piece: string): void => void (text += piece);
    // No server listens on port 1.
    const env = { DATABASE_URL: url, VALKEY_URL: 'redis://canary-user:canary-password@127.0.0.1:1' };
    await doctorCommand({ dir, env, json: true, offline: false, timeoutMs: 60_000, out, err: out });
    rmSync(dir, { recursive: true });
    expect(text).not.toContain(decodeURIComponent(new URL(url).password));
    expect(text).not.toContain('canary-password');
    const { findings } = JSON.parse(text) as { readonly findings: readonly Finding[] };
    return (check) =>
      findings
        .filter((one) => one.check === check)
        .map((one) => `${one.status}: ${one.message}`)
        .join();
  }

  it('counts connections, compares clock and tables, and says that Valkey is away', async () => {
    const of = await doctor(server.url());
    expect(of('PostgreSQL')).toMatch(/^ok: .*answers, release 1\d.*without TLS on a loopback address$/);
    expect(of('PostgreSQL connections')).toBe('ok: 1 × 9 connections of max_connections 20: enough for 1 gateways');
    expect(of('PostgreSQL tables')).toMatch(/^ok: the schema gatehouse has none yet/);
    expect(of('PostgreSQL clock')).toMatch(/^ok: -?\d+ ms/);
    expect(of('Valkey')).toMatch(/^error: 127\.0\.0\.1:1/);
  }, 300_000);

  it('warns where the gateways need more than half of the connections', async () => {
    const of = await doctor(server.url(), { connections: 6 });
    expect(of('PostgreSQL connections')).toMatch(
      /^warning: 1 × 11 connections are more than half of max_connections \(20\)/,
    );
  }, 300_000);

  it('says that a user may not write, before there are tables and afterwards', async () => {
    const client = new pg.Client(server.url());
    await client.connect();
    await client.query(`CREATE ROLE reader LOGIN PASSWORD 'canary-reader' IN ROLE pg_read_all_data`);
    const url = Object.assign(new URL(server.url()), { username: 'reader', password: 'canary-reader' }).href;
    const refusal = expect.stringMatching(/^error: .*the user of `url` may not write to the schema of_reader/);
    expect((await doctor(url, { schema: 'of_reader' }))('PostgreSQL')).toEqual(refusal);
    await client.query('CREATE SCHEMA of_reader CREATE TABLE entity (id text)');
    expect((await doctor(url, { schema: 'of_reader' }))('PostgreSQL')).toEqual(refusal);
    await client.end();
  }, 300_000);

  it('says why a server is not reached', async () => {
    const url = new URL(server.url());
    url.password = 'canary-wrong';
    const of = await doctor(url.href);
    expect(of('PostgreSQL')).toMatch(/^error: .*password authentication failed/);
  }, 300_000);
});
