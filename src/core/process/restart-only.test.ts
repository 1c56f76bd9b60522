import { describe, expect, it } from 'vitest';
import type { ServerFile } from '../../../schemas/types.generated.ts';
import { restartProblems, restartKeys } from './restart-only.testkit.ts';

describe('settings that need a restart', () => {
  it('are reported with the current and the new value', () => {
    expect(restartProblems({ listen: { port: 8787 } }, { listen: { port: 8788 } })).toEqual([
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
      },
      [],
    ],
  ])('%s', (_, running, next, expected) => {
    expect(restartKeys(running, next)).toEqual(expected);
  });
});
