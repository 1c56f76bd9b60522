import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { ServerFile } from '../../../schemas/types.generated.ts';
import { Secret } from '../../plugin/index.ts';
import type { Problem } from '../kernel/report.ts';
import { reportRestartOnly, RESTART_ONLY } from './restart-only.ts';

function problems(running: ServerFile, next: ServerFile): Problem[] {
  const found: Problem[] = [];
  reportRestartOnly(running, next, (problem) => void found.push(problem));
  return found;
}
const keys = (running: ServerFile, next: ServerFile) => problems(running, next).map(({ path }) => path.join('.'));

describe('settings that need a restart', () => {
  it('are reported with the current and the new value', () => {
    expect(problems({ listen: { port: 8787 } }, { listen: { port: 8788 } })).toEqual([
      {
        path: ['listen', 'port'],
        message:
          '`listen.port` changes only with a restart: 8787 → 8788; the reload is refused, and the previous settings still serve',
      },
    ]);
  });

  it.each<[string, ServerFile, ServerFile, string[]]>([
    ['nothing', {}, {}, []],
    ['a default that is written out', {}, { listen: { host: '127.0.0.1', port: 8787 } }, []],
    ['the same size in another unit', { limits: { header: 16_384 } }, { limits: { header: '16KiB' } }, []],
    ['a header limit', {}, { limits: { header: '32KiB' } }, ['limits.header']],
    ['both listeners', {}, { listen: { host: '::1' }, status: { port: 1 } }, ['listen.host', 'status.port']],
    [
      'the admin listener',
      {},
      { admin: { enabled: false, host: '::1', port: 1 } },
      ['admin.enabled', 'admin.host', 'admin.port'],
    ],
    ['a store', {}, { state: { store: { type: 'memory' } } }, ['state']],
    [
      'another store, other kinds in it, and how long its keys last',
      { state: { store: { type: 'sqlite', dir: '/a' } } },
      { state: { store: { type: 'sqlite', dir: '/b' }, owns: ['keys'], when_down: { max_age: '1h' } } },
      ['state.store.dir', 'state.owns', 'state.when_down.max_age'],
    ],
    ['traces turned on', {}, { telemetry: { traces: { service_name: 'x' } } }, ['telemetry.traces']],
    ['traces turned on with nothing in them', {}, { telemetry: { traces: {} } }, ['telemetry.traces']],
    [
      'a collector',
      { telemetry: { traces: { endpoint: 'http://a/' } } },
      { telemetry: { traces: { endpoint: 'http://b/' } } },
      ['telemetry.traces.endpoint'],
    ],
    [
      'keys that a reload can change',
      {},
      {
        timeouts: { total: '5s' },
        telemetry: { log: { level: 'warn', access: 'off' } },
        limits: { body: '1MiB' },
        reload: { watch: false, debounce: '1s' },
        header_prefixes: ['x-acme-'],
        plugins: [],
        cache: { max_bytes: '1MiB' },
        admin: { token: new Secret('new'), hosts: ['gatehouse.internal'], records: 5 },
      },
      [],
    ],
  ])('%s', (_, running, next, expected) => {
    expect(keys(running, next)).toEqual(expected);
  });

  it('never show the trace endpoint, because it may contain a password', () => {
    const [problem] = problems(
      { telemetry: { traces: { endpoint: 'http://u:old-password@a/' } } },
      { telemetry: { traces: { endpoint: 'http://u:new-password@a/' } } },
    );
    expect(problem!.message).not.toContain('password');
  });
});

it('the keys that need a restart are the keys that docs/operate/reload.md lists', () => {
  const readme = readFileSync(new URL('../../../docs/operate/reload.md', import.meta.url), 'utf8');
  const list = readme.split('## Settings that need a restart\n')[1]!.split('. ')[0]!;
  const listed = [...list.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);
  const keys = RESTART_ONLY.map(({ path }) => path.join('.'));
  const isBelow = (key: string, name: string) => key === name || key.startsWith(`${name}.`);
  expect(keys.filter((key) => !listed.some((name) => isBelow(key, name)))).toEqual([]);
  expect(listed.filter((name) => !keys.some((key) => isBelow(key, name)))).toEqual([]);
});
