import { describe, expect, it } from 'vitest';
import type { CatalogEntry, ServerFile } from '../../../schemas/types.generated.ts';
import { Secret } from '../../plugin/index.ts';
import type { ProcessPart } from '../process/process-part.ts';
import { welcome } from './welcome.ts';

const address = (host: string, port: number) => ({
  host,
  port,
  url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
});
const anthropic: CatalogEntry = { slug: 'claude', provider: 'anthropic', api_key: new Secret('x', 'test') };

interface Start {
  readonly host?: string;
  readonly providers?: CatalogEntry[];
  readonly key?: string;
  readonly prefixes?: [string, ...string[]];
  readonly admin?: number | undefined;
  readonly statusHost?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly server?: ServerFile;
  readonly parts?: ProcessPart[];
}

function text({
  host = '127.0.0.1',
  providers = [anthropic],
  key = 'gatehouse-demo-key',
  prefixes,
  admin,
  statusHost = host,
  env = {},
  server = prefixes ? { header_prefixes: prefixes } : {},
  parts = [],
}: Start): string {
  const started = {
    data: address(host, 8787),
    status: address(statusHost, 9464),
    admin: admin === undefined ? undefined : address('127.0.0.1', admin),
    settings: {
      server,
      catalog: { providers },
      keys: { keys: [{ id: 'a', key: new Secret(key, 'test') }] },
    },
    parts,
  };
  return welcome(started, env);
}

const curl = (start: Start): string =>
  text(start)
    .split('\n')
    .find((line) => line.startsWith('  curl '))!;

describe('the first line of the start', () => {
  const both =
    'Gatehouse listens on http://127.0.0.1:8787; status (/metrics, /livez, /readyz) on http://127.0.0.1:9464';

  it.each([
    [undefined, both],
    [8788, `${both}; request records (/admin/v1/requests) on http://127.0.0.1:8788`],
  ])('has the addresses of all listeners (admin: %s)', (admin, line) => {
    expect(text({ admin }).split('\n')[0]).toBe(line);
  });
});

describe('the address of the console', () => {
  // Only its presence counts.
  const parts = [{ console: {} } as ProcessPart];

  it('is the first line, where the build has one and its listener is on', () => {
    expect(text({ admin: 8788, parts }).split('\n').slice(0, 2)).toEqual([
      'Console: http://127.0.0.1:8788/ui/',
      expect.stringMatching(/^Gatehouse listens on /),
    ]);
    expect(text({ parts })).toMatch(/^Gatehouse listens on /);
  });
});

describe('the second line of the start', () => {
  const everywhere = 'every machine that has a route to this one';

  it.each<[string, Start, string]>([
    [
      'only this machine, with the setting that opens both listeners',
      {},
      'Requests and status: reachable from this machine only. To open both, set GATEHOUSE_HOST=0.0.0.0, or name a host in server.yaml.',
    ],
    ['every machine, by IPv4', { host: '0.0.0.0' }, `Requests and status: reachable from ${everywhere} (IPv4).`],
    ['every machine', { host: '::' }, `Requests and status: reachable from ${everywhere} (IPv4 and IPv6).`],
    [
      'one network',
      { host: '10.1.2.3', statusHost: '127.0.0.1' },
      'Requests: reachable from every machine that has a route to 10.1.2.3. Status: reachable from this machine only.',
    ],
    [
      'that GATEHOUSE_HOST has no effect on a host of the file',
      {
        statusHost: '127.0.0.1',
        host: '0.0.0.0',
        env: { GATEHOUSE_HOST: '0.0.0.0' },
        server: { listen: { host: '0.0.0.0' }, status: { host: '127.0.0.1' } },
      },
      `Requests: reachable from ${everywhere} (IPv4). Status: reachable from this machine only. GATEHOUSE_HOST has no effect on \`status\`: server.yaml sets the host 127.0.0.1.`,
    ],
  ])('describes who can reach the listeners: %s', (_, start, line) => {
    expect(text(start).split('\n')[1]).toBe(line);
  });
});

describe('the curl line of the start', () => {
  it('goes to loopback if the gateway listens on every address', () => {
    expect(curl({ host: '0.0.0.0' })).toContain(' http://127.0.0.1:8787/');
    expect(curl({ host: '::' })).toContain(` 'http://[::1]:8787/v1/chat/completions' `);
  });

  it('quotes an IPv6 address, which shells would read as a pattern', () => {
    expect(curl({ host: '::1' })).toContain(` 'http://[::1]:8787/v1/chat/completions' `);
  });

  it('sends the key under the first header prefix', () => {
    expect(curl({ prefixes: ['x-acme-', 'x-gateway-'] })).toContain(`'x-acme-api-key: `);
  });

  it('has the limit that some models require, and a model that the entry lists', () => {
    expect(curl({ providers: [anthropic] })).toContain('"model":"@claude/MODEL","max_tokens":1000,');
    const listed: CatalogEntry = { ...anthropic, models: ['claude-*', 'claude-sonnet-4-5'] };
    expect(curl({ providers: [listed] })).toContain('"@claude/claude-sonnet-4-5"');
  });

  it('never prints a key other than the public demo key', () => {
    expect(curl({ key: 'gatehouse-private' })).toContain('YOUR_GATEWAY_KEY');
  });
});
