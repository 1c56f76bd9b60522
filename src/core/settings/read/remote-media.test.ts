import { describe, expect, it } from 'vitest';
import type { GatewayFile } from '../../../../schemas/types.generated.ts';
import type { Route, Target } from '../../kernel/index.ts';
import { compileGatewayConfig } from '../compile/gateway-config.ts';
import { InlineConfigs } from './inline-configs.ts';
import { packageSchemas } from '../schema/schemas.ts';

const targetsOf = (route: Route): Target[] => (route.kind === 'target' ? [route] : route.members.flatMap(targetsOf));
const compiled = (file: GatewayFile) =>
  targetsOf(compileGatewayConfig('x', file).route).map(({ remoteMedia }) => remoteMedia);

describe('remote_media', () => {
  it('is off unless a config has it', () => expect(compiled({})).toEqual([undefined]));

  it('may pass URLs without fetching any', () => {
    expect(compiled({ remote_media: { pass: true } })).toMatchObject([{ hosts: [], pass: true }]);
    expect(packageSchemas().validate('gateway', { remote_media: {} })).not.toEqual([]);
  });

  it('has default bounds', () => {
    expect(compiled({ remote_media: { hosts: ['*.a.example'] } })).toEqual([
      {
        hosts: ['*.a.example'],
        pass: false,
        maxBytes: 20 * 1024 * 1024,
        maxItems: 10,
        timeoutMs: 10_000,
        allowInsecure: false,
      },
    ]);
  });

  it('is inherited and replaced as a whole: the bounds of one target never widen another', () => {
    const around = { hosts: ['a.example'], allow_insecure: true, max_bytes: '1KiB', timeout: '2s', max_items: 3 };
    const set = { hosts: ['a.example'], allowInsecure: true, maxBytes: 1024, timeoutMs: 2000, maxItems: 3 };
    const targets = [{}, { remote_media: { hosts: ['b.example'] } }, { remote_media: { hosts: [] } }];
    expect(compiled({ remote_media: around, strategy: { mode: 'fallback' }, targets })).toMatchObject([
      set,
      { hosts: ['b.example'], allowInsecure: false, maxItems: 10 },
      { hosts: [] },
    ]);
  });

  it.each([
    ['a.example', true],
    ['*.a.example', true],
    ['*', true],
    ['a.example:8443', true],
    ['*:*', true],
    ['127.0.0.1:8080', true],
    // It would also allow evila.example.
    ['*a.example', false],
    ['a.*.example', false],
    ['A.example', false],
    ['https://a.example', false],
    ['a.example/x', false],
    ['user@a.example', false],
    ['', false],
    ['.a.example', false],
  ])('accepts the host %j: %s', (host, accepted) => {
    const problems = packageSchemas().validate('gateway', { remote_media: { hosts: [host] } });
    expect((problems ?? []).length === 0).toBe(accepted);
  });

  it.each([
    ['at the top', { remote_media: { hosts: ['*'] } }],
    ['in a target', { strategy: { mode: 'single' }, targets: [{ remote_media: { hosts: ['*'] } }] }],
  ])('is refused in a config sent with a request, %s', (_, config) => {
    const configs = new InlineConfigs({ limit: 10_000, server: {}, secretHeaders: [], onWarnings: () => {} });
    expect(() => configs.get(JSON.stringify(config), 'x-gateway-config')).toThrow(/cannot set `remote_media`/);
  });
});
