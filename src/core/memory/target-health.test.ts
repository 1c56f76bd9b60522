import { describe, expect, it } from 'vitest';
import { UpstreamError } from '../../plugin/index.ts';
import type { GatewayConfig, Target } from '../kernel/index.ts';
import { createConfig, createFakeClock, createTarget } from '../../plugin/testing/index.ts';
import { targetsOf, type HealthListener } from './ports.ts';
import { MemoryHealthStore } from './target-health.ts';

type Told = Parameters<HealthListener['onTargets']>[0];

function create() {
  const reported: Told[] = [];
  const transitions: string[] = [];
  const store = new MemoryHealthStore({
    clock: createFakeClock(),
    onTargets: (targets) => reported.push(targets),
    onTransition: ({ config, target }, { to }) => transitions.push(`${config} ${target} ${to}`),
  });
  /** Makes the configs live as a snapshot does. */
  const load = (...configs: GatewayConfig[]) => {
    const health = store.directory();
    health.prepare(configs);
    health.use();
    return health;
  };
  return { store, reported, transitions, load };
}

type Health = ReturnType<ReturnType<typeof create>['load']>;

const BREAKER = { ...createTarget().breaker, enforced: true };
const target = (parts: Partial<Target> = {}): Target =>
  createTarget({ provider: '@vertex', overrideParams: { model: 'm' }, breaker: BREAKER, ...parts });
const config = (parts: Partial<Target> = {}, more: Partial<GatewayConfig> = {}): GatewayConfig =>
  createConfig({ id: 'it', route: target(parts), ...more });

const targetIn = ({ route }: GatewayConfig): Target => targetsOf(route)[0]!;

const stateOf = (health: Health, of: GatewayConfig): string => health.of(of, targetIn(of)).state;

function breakIt(health: Health, of: GatewayConfig): void {
  for (let count = 0; count < 5; count += 1)
    health.of(of, targetIn(of)).begin().failed(new UpstreamError('overloaded', 'no'));
  expect(health.of(of, targetIn(of)).state).toBe('open');
}

describe('a target after a reload', () => {
  it.each<[string, Partial<Target>]>([
    ['nothing', {}],
    ['its parameters', { overrideParams: { model: 'm', temperature: 1 } }],
    ['its timeouts', { timeouts: { connect: 1 } }],
  ])('keeps its health when %s has changed', (_, change) => {
    const { load } = create();
    const [before, after] = [config(), config(change)];
    breakIt(load(before), before);
    expect(stateOf(load(after), after)).toBe('open');
  });

  it.each<[string, Partial<Target>]>([
    ['its provider', { provider: '@anthropic' }],
    ['its model', { overrideParams: { model: 'n' } }],
    ['its path', { path: 'config.targets[1]' }],
    ['the threshold of its breaker', { breaker: { ...BREAKER, failures: 6 } }],
    ['the statuses that count', { breaker: { ...BREAKER, onStatusCodes: new Set([503]) } }],
    ['the statuses that count for tokens', { breaker: { ...BREAKER, onTokenStatusCodes: new Set([503]) } }],
    ['whether it has a breaker', { breaker: { ...BREAKER, enforced: false } }],
  ])('starts again when %s has changed', (_, change) => {
    const { load } = create();
    const [before, after] = [config(), config(change)];
    breakIt(load(before), before);
    expect(stateOf(load(after), after)).toBe('closed');
  });

  it('starts again when it was removed in between', () => {
    const { load } = create();
    const same = config();
    breakIt(load(same), same);
    load();
    expect(stateOf(load(same), same)).toBe('closed');
  });

  it('shares its health with requests that still run on the previous settings', () => {
    const { load } = create();
    const [before, after] = [config(), config()];
    const old = load(before);
    const current = load(after);
    breakIt(old, before);
    expect(stateOf(current, after)).toBe('open');
  });

  it('has no entry for settings that never went live', () => {
    const { store, reported } = create();
    store.directory().prepare([config()]);
    expect([reported, store.reports()]).toEqual([[], []]);
  });
});

describe('a lookup', () => {
  it('returns the same health each time', () => {
    const { load } = create();
    const [stored, inline] = [config(), config({}, { id: 'inline' })];
    const health = load(stored);
    for (const one of [stored, inline]) expect(health.of(one, targetIn(one))).toBe(health.of(one, targetIn(one)));
  });

  it('distinguishes inline configs by content, and finds them again after a reload', () => {
    const { load } = create();
    const inline = (hash: string): GatewayConfig => config({}, { id: 'inline', hash });
    breakIt(load(), inline('a'));
    const health = load();
    expect([inline('a'), inline('b')].map((one) => stateOf(health, one))).toEqual(['open', 'closed']);
  });

  it('finds stored targets after any number of inline configs, of which it keeps the last 2,000', () => {
    const { load } = create();
    const stored = config();
    const inline = (hash: string): GatewayConfig => config({}, { id: 'inline', hash });
    const health = load(stored);
    breakIt(health, stored);
    for (const hash of ['first', 'last']) breakIt(health, inline(hash));
    for (let count = 0; count < 1999; count += 1) {
      const one = inline(`${count}`);
      health.of(one, targetIn(one));
    }
    const next = load(stored);
    const all = [stored, inline('last'), inline('first')];
    expect(all.map((one) => stateOf(next, one))).toEqual(['open', 'open', 'closed']);
  });
});

describe('reports', () => {
  it('contain the current targets with their health, and no inline ones', () => {
    const { load, reported, store } = create();
    const group: GatewayConfig = {
      ...config(),
      route: {
        kind: 'group',
        path: 'config',
        mode: 'fallback',
        fallsThrough: { kinds: new Set(), statusCodes: new Set(), stop: new Set() },
        weights: [1, 1, 1],
        sticky: undefined,
        members: [
          target({ path: 'config.targets[0]' }),
          target({ path: 'config.targets[1]', provider: undefined, overrideParams: { model: '@claude/m' } }),
          createTarget({ path: 'config.targets[2]' }),
        ],
      },
    };
    const health = load(group);
    breakIt(health, config({}, { id: 'inline' }));
    breakIt(health, group);
    load(group);
    const place = { config: 'it', name: '', provider: 'vertex', enforced: true };
    expect(reported).toEqual([
      [
        { ...place, target: 'config.targets[0]', healthy: true },
        { ...place, target: 'config.targets[1]', healthy: true, provider: 'claude' },
        { ...place, target: 'config.targets[2]', healthy: true, provider: '', enforced: false },
      ],
      [
        { ...place, target: 'config.targets[0]', healthy: false },
        { ...place, target: 'config.targets[1]', healthy: true, provider: 'claude' },
        { ...place, target: 'config.targets[2]', healthy: true, provider: '', enforced: false },
      ],
    ]);
    expect(store.reports().map(({ state, failures }) => [state, failures])).toEqual([
      ['open', 5],
      ['closed', 0],
      ['closed', 0],
    ]);
  });

  it('contain no transitions of a removed target', () => {
    const { load, transitions } = create();
    const before = config();
    const old = load(before);
    load(config({ provider: '@anthropic' }));
    breakIt(old, before);
    expect(transitions).toEqual([]);
    const after = config({ provider: '@anthropic' });
    breakIt(load(after), after);
    expect(transitions).toEqual(['it config open']);
  });
});
