import { describe, expect, it } from 'vitest';
import type { FieldSource } from '../../explanation/explanation.ts';
import type { JsonPath } from '../../../../core/settings/schema/pointer.ts';
import { createExplainer, questionOf, type AskParts } from '../explain.testkit.ts';
import type { Observation } from '../observation.ts';
import { targetName } from '../../../../core/dry-run/written-config.ts';
import { catalogSource, configSource, keySource, ownSource, serverSource, targetPlace } from './places.ts';

const CATALOG = `providers:
  - slug: sim
    provider: simulator
  - slug: other
    provider: simulator
    timeouts:
      total: 20s
`;

const NESTED = `name: Nested
strategy: { mode: fallback }
request_timeout: 90s
forward_headers: [x-one, x-two]
override_params:
  temperature: 0.2
  logit_bias: { '1': 1, '2': 2 }
retry:
  attempts: 2
  on_status_codes: [500]
cache: { mode: exact, max_age: 60 }
targets:
  - name: first
    provider: '@sim'
    retry: { attempts: 1 }
    override_params:
      logit_bias: { '2': 5 }
  - name: group
    strategy: { mode: loadbalance }
    timeouts: { total: 30s }
    cache: { mode: 'off' }
    targets:
      - provider: '@sim'
        weight: 3
        forward_headers: [x-three]
        cache: { mode: exact, scope: config }
      - provider: '@other'
        request_timeout: 5s
        timeouts: { idle: 2s }
        override_params: { temperature: null }
`;

const PORTKEY = `requestTimeout: 30000
targets:
  - virtual_key: sim
    overrideParams:
      max_tokens: 7
    cache: { mode: simple, maxAge: 9 }
`;

async function observe(parts: AskParts): Promise<Observation> {
  const gateway = { nested: NESTED, portkey: PORTKEY };
  const settings = { server: 'deadline: 20s\ntimeouts:\n  idle: 40s\n', catalog: CATALOG, gateway };
  return createExplainer(settings).observe(questionOf({ json: { model: 'm' }, ...parts }));
}

const reported = (source: FieldSource | undefined): string | undefined => {
  if (source?.kind === 'header') return `header ${source.name}`;
  if (source?.kind !== 'settings') return source?.kind;
  const { file, line, column } = source.at;
  return `${file.replace('configs/', '')}:${line}:${column} ${source.setting}`;
};

describe('configSource', () => {
  const ROOT = 'config';
  const FIRST = 'config.targets[0]';
  const THIRD = 'config.targets[1].targets[0]';
  const FOURTH = 'config.targets[1].targets[1]';

  it.each<[string, string, readonly JsonPath[], string | undefined]>([
    ['the target itself', FIRST, [['retry', 'attempts']], '15:14 targets.0.retry.attempts'],
    ['the enclosing config, field by field', FIRST, [['retry', 'on_status_codes']], '10:3 retry.on_status_codes'],
    ['the config around two levels', FOURTH, [['retry', 'attempts']], '9:3 retry.attempts'],
    [
      'the nearer leaf',
      FIRST,
      [['override_params', 'logit_bias', '2']],
      '17:21 targets.0.override_params.logit_bias.2',
    ],
    ['the farther leaf', FIRST, [['override_params', 'logit_bias', '1']], '7:17 override_params.logit_bias.1'],
    [
      'a null, which deletes',
      FOURTH,
      [['override_params', 'temperature']],
      '30:28 targets.1.targets.1.override_params.temperature',
    ],
    ['a group between', THIRD, [['timeouts', 'total'], ['request_timeout']], '20:17 targets.1.timeouts.total'],
    [
      'another name at a nearer level',
      FOURTH,
      [['timeouts', 'total'], ['request_timeout']],
      '28:9 targets.1.targets.1.request_timeout',
    ],
    ['another name in the config', FIRST, [['timeouts', 'total'], ['request_timeout']], '3:1 request_timeout'],
    ['an item of a list', FIRST, [['forward_headers', 1]], '4:26 forward_headers.1'],
    ['nothing, when a nearer list replaces the whole', THIRD, [['forward_headers', 1]], undefined],
    ['the cache of the config', FIRST, [['cache', 'max_age']], '11:23 cache.max_age'],
    ['nothing, when a cache is off in between', THIRD, [['cache', 'max_age']], undefined],
    ['the target, when the outer cache is off', THIRD, [['cache', 'scope']], '26:31 targets.1.targets.0.cache.scope'],
    ['nobody', FIRST, [['commit']], undefined],
    ['the config for itself', ROOT, [['request_timeout']], '3:1 request_timeout'],
    ['nothing, for an unknown target', 'config.targets[7]', [['request_timeout']], undefined],
  ])('finds %s', async (_, target, keys, expected) => {
    const seen = await observe({ config: 'nested' });
    expect(reported(configSource(seen, target, ...keys))).toBe(expected && `gateway/nested.yaml:${expected}`);
  });

  it.each<[JsonPath, string]>([
    [['override_params', 'max_tokens'], '5:7 targets.0.override_params.max_tokens'],
    [['cache', 'max_age'], '6:28 targets.0.cache.max_age'],
    [['request_timeout'], '1:1 request_timeout'],
    [['provider'], '3:5 targets.0.provider'],
  ])('finds %j in Portkey’s spelling', async (keys, expected) => {
    const seen = await observe({ config: 'portkey' });
    expect(reported(configSource(seen, FIRST, keys))).toBe(`gateway/portkey.yaml:${expected}`);
  });

  const inline = (config: object) => observe({ headers: { 'x-gateway-config': JSON.stringify(config) } });

  it('names the header of an inline config, without places in it', async () => {
    const seen = await inline({
      requestTimeout: 100,
      targets: [{ name: 'a', provider: '@sim', retry: { attempts: 1 } }],
    });
    expect(reported(configSource(seen, FIRST, ['retry', 'attempts']))).toBe('header x-gateway-config');
    expect(reported(configSource(seen, FIRST, ['request_timeout']))).toBe('header x-gateway-config');
    expect(configSource(seen, FIRST, ['commit'])).toBeUndefined();
    expect(targetPlace(seen, FIRST)).toBeUndefined();
    expect(targetName(seen, FIRST)).toBe('a');
  });

  it('finds nothing for a request without a config', async () => {
    const seen = await observe({ json: { model: '@sim/m' } });
    expect(configSource(seen, ROOT, ['retry'])).toBeUndefined();
    expect(targetPlace(seen, ROOT)).toBeUndefined();
  });
});

describe('places', () => {
  it('has the targets of a config by their paths', async () => {
    const seen = await observe({ config: 'nested' });
    const at = (path: string) => [targetName(seen, path), targetPlace(seen, path)?.line];
    expect(at('config')).toEqual([undefined, 1]);
    expect(at('config.targets[0]')).toEqual(['first', 13]);
    expect(at('config.targets[1]')).toEqual(['group', 18]);
    expect(at('config.targets[1].targets[1]')).toEqual([undefined, 27]);
  });

  it('has settings that are not inherited only at their own level', async () => {
    const seen = await observe({ config: 'nested' });
    const path = 'config.targets[1].targets[0]';
    expect(reported(ownSource(seen, path, ['weight']))).toBe('gateway/nested.yaml:24:9 targets.1.targets.0.weight');
    expect(ownSource(seen, path, ['retry'])).toBeUndefined();
  });

  it('has catalog entries by slug, keys by id, and the server’s settings', async () => {
    const seen = await observe({ config: 'nested' });
    expect(reported(catalogSource(seen, 'other', ['timeouts', 'total']))).toBe(
      'catalog.yaml:7:7 providers.1.timeouts.total',
    );
    expect(reported(catalogSource(seen, 'other', []))).toBe('catalog.yaml:4:5 providers.1');
    expect(reported(serverSource(seen, ['timeouts', 'idle']))).toBe('server.yaml:3:3 timeouts.idle');
    expect(reported(keySource(seen, 'team', ['id']))).toBe('keys.yaml:1:11 keys.0.id');
  });

  it('has nothing for unset settings', async () => {
    const seen = await observe({ config: 'nested' });
    expect(catalogSource(seen, 'sim', ['timeouts', 'total'])).toBeUndefined();
    expect(catalogSource(seen, 'nobody', [])).toBeUndefined();
    expect(serverSource(seen, ['timeouts', 'total'])).toBeUndefined();
    expect(keySource(seen, 'nobody', [])).toBeUndefined();
  });
});
