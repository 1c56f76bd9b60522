import { describe, expect, it } from 'vitest';
import type { FieldSource, TargetExplanation } from '../../explanation/explanation.ts';
import { explain, type AskParts } from '../explain.testkit.ts';

const CATALOG = `providers:
  - slug: one
    provider: simulator
    timeouts: { first_byte: 7s }
  - slug: two
    provider: openai
    api_key: \${env:OPENAI_KEY:-a-key-of-the-provider}
  - slug: three
    provider: simulator
  - slug: claude
    provider: anthropic
    api_key: a-key-of-anthropic
  - slug: vertex-ai
    provider: vertex-ai
    api_key: \${env:VERTEX_KEY:-another-key-of-a-provider}
    timeouts: { total: 1s }
`;

const SERVER = `timeouts:
  idle: 40s
`;

const GATEWAY = {
  chain: `name: The chain
strategy: { mode: fallback }
timeouts: { connect: 1s }
retry: { attempts: 2, on_status_codes: [503] }
targets:
  - name: first
    provider: '@one'
    request_timeout: 9s
    circuit_breaker: { failures: 2 }
  - provider: '@two'
    retry: { attempts: 0 }
    timeouts: { first_byte: 3s }
`,
  spread: `strategy: { mode: loadbalance }
targets:
  - provider: '@one'
    weight: 3
  - strategy: { mode: loadbalance }
    targets:
      - provider: '@two'
        weight: 9
      - provider: '@three'
`,
  sticky: `strategy:
  mode: loadbalance
  sticky: { hash_fields: [metadata.user] }
targets:
  - provider: '@one'
  - provider: '@two'
  - provider: '@three'
`,
  rules: `strategy:
  mode: conditional
  conditions:
    - query: { metadata.tier: gold }
      then: best
  default: rest
targets:
  - name: best
    provider: '@one'
  - name: rest
    provider: '@two'
`,
  able: `strategy: { mode: fallback }
targets:
  - { provider: '@claude', override_params: { model: m } }
  - { provider: '@one', override_params: { model: m } }
`,
  picky: `strategy: { mode: fallback, on_errors: [rate_limit], on_status_codes: [418] }
targets:
  - provider: '@one'
  - provider: '@two'
`,
  nested: `strategy: { mode: fallback }
targets:
  - strategy: { mode: fallback, on_errors: [rate_limit] }
    targets:
      - provider: '@one'
      - provider: '@two'
  - provider: '@three'
`,
};

const ask = ({ json, ...parts }: AskParts) =>
  explain({ server: SERVER, catalog: CATALOG, gateway: GATEWAY }, { json: { model: 'm', ...json }, ...parts });

const order = (targets: readonly TargetExplanation[]) => targets.map(({ target, why }) => `${target.slice(7)} ${why}`);

const reported = (source: FieldSource): string => {
  if (source.kind !== 'settings')
    return source.kind === 'header' ? source.name : source.kind === 'gateway' ? source.what : '';
  return `${source.at.file.slice(8)}:${source.at.line}`;
};

const timesOf = ({ timeouts }: TargetExplanation) =>
  Object.entries(timeouts).map(([name, { ms, source }]) => `${name} ${ms} ${reported(source)}`);

describe('the targets', () => {
  it.each<[string, AskParts, readonly string[]]>([
    ['a request without a config', { json: { model: '@one/m' } }, [' only']],
    [
      'an inline config',
      { config: '{"targets":[{"provider":"@one"}],"strategy":{"mode":"single"}}' },
      ['targets[0] only'],
    ],
    ['a fallback', { config: 'chain' }, ['targets[0] first', 'targets[1] fallback']],
    [
      'a load balance, by the first draw',
      { config: 'spread' },
      ['targets[0] weight', 'targets[1].targets[0] fallback', 'targets[1].targets[1] fallback'],
    ],
    [
      'a load balance, by another draw in each group',
      { config: 'spread', draws: [0.99, 0.95, 0] },
      ['targets[1].targets[1] weight', 'targets[1].targets[0] fallback', 'targets[0] fallback'],
    ],
    [
      'a conditional',
      { config: 'rules', headers: { 'x-gateway-metadata': '{"tier":"gold"}' } },
      ['targets[0] condition'],
    ],
    ['a conditional without a matching condition', { config: 'rules' }, ['targets[1] otherwise']],
    ['rules that let few failures fall through', { config: 'picky' }, ['targets[0] first', 'targets[1] fallback']],
    [
      'a group with stricter rules than its enclosing one',
      { config: 'nested' },
      ['targets[0].targets[0] first', 'targets[0].targets[1] fallback', 'targets[1] fallback'],
    ],
  ])('are listed in the order of %s', async (_, parts, expected) => {
    const { targets, leftOut } = await ask(parts);
    expect(order(targets)).toEqual(expected);
    expect(targets.map(({ number }) => number)).toEqual(expected.map((__, index) => index));
    expect(leftOut.length + targets.length).toBe(parts.config === 'rules' ? 2 : expected.length);
  });

  it('stay with a sticky user, and spread over users', async () => {
    const firstOf = async (user: string) =>
      (await ask({ config: 'sticky', headers: { 'x-gateway-metadata': JSON.stringify({ user }) } })).targets[0];
    const users = Array.from({ length: 12 }, (_, number) => `user-${number}`);
    const firsts = await Promise.all(users.map(firstOf));
    const again = await Promise.all(users.map(firstOf));
    expect(again.map((each) => each?.target)).toEqual(firsts.map((each) => each?.target));
    expect(new Set(firsts.map((each) => each?.why))).toEqual(new Set(['sticky']));
    expect(new Set(firsts.map((each) => each?.target)).size).toBeGreaterThan(1);
  });

  it('have their names and places, and those of their providers', async () => {
    const { targets } = await ask({ config: 'chain' });
    expect(targets.map(({ name, at }) => [name, at])).toEqual([
      ['first', { file: 'configs/gateway/chain.yaml', line: 6, column: 5 }],
      [undefined, { file: 'configs/gateway/chain.yaml', line: 10, column: 5 }],
    ]);
    expect(targets.map(({ provider }) => provider)).toEqual([
      {
        slug: 'one',
        provider: 'simulator',
        model: 'm',
        format: 'openai-chat',
        at: { file: 'configs/catalog.yaml', line: 2, column: 5 },
      },
      expect.objectContaining({ slug: 'two', provider: 'openai', at: expect.objectContaining({ line: 5 }) }),
    ]);
  });

  it('have no place when the request itself names them', async () => {
    const headers = { 'x-gateway-vertex-project-id': 'a-project', 'x-gateway-vertex-region': 'europe-west1' };
    const { targets } = await ask({
      json: { model: 'gemini-2.5-flash' },
      headers: { ...headers, 'x-gateway-provider': 'vertex-ai', authorization: 'Bearer token-of-the-caller' },
      as: 'team',
    });
    expect(targets[0]).toMatchObject({
      at: undefined,
      name: undefined,
      provider: { provider: 'vertex-ai', at: undefined },
    });
  });

  it('have their shares in every enclosing load balance', async () => {
    const { targets } = await ask({ config: 'spread' });
    const shares = targets.map((target) =>
      target.shares.map(({ group, weight, of, at }) => [group, `${weight}/${of}`, at?.line]),
    );
    expect(shares).toEqual([
      [['config', '3/4', 4]],
      [
        ['config', '1/4', undefined],
        ['config.targets[1]', '9/10', 8],
      ],
      [
        ['config', '1/4', undefined],
        ['config.targets[1]', '1/10', undefined],
      ],
    ]);
    expect((await ask({ config: 'chain' })).targets[0]?.shares).toEqual([]);
  });

  it('have each timeout from the nearest level that sets it', async () => {
    const { targets } = await ask({ config: 'chain' });
    expect(targets.map(timesOf)).toEqual([
      [
        'connect 1000 gateway/chain.yaml:3',
        'first_byte 7000 catalog.yaml:4',
        'first_content 180000 default',
        'idle 40000 server.yaml:2',
        'total 9000 gateway/chain.yaml:8',
      ],
      [
        'connect 1000 gateway/chain.yaml:3',
        'first_byte 3000 gateway/chain.yaml:12',
        'first_content 180000 default',
        'idle 40000 server.yaml:2',
        'total 900000 default',
      ],
    ]);
  });

  it('have the timeouts of an inline config, with the header as source', async () => {
    const { targets } = await ask({ config: '{"provider":"@three","request_timeout":"2s"}' });
    expect(targets.flatMap(timesOf)).toContain('total 2000 x-gateway-config');
  });

  it('have their retries, with the source', async () => {
    const { targets } = await ask({ config: 'chain' });
    expect(targets.map(({ retry }) => [retry.attempts, retry.onStatusCodes, reported(retry.source)])).toEqual([
      [2, [503], 'gateway/chain.yaml:4'],
      [0, [503], 'gateway/chain.yaml:11'],
    ]);
    const [only] = (await ask({ json: { model: '@one/m' } })).targets;
    expect(only?.retry).toMatchObject({ attempts: 0, source: { kind: 'gateway', what: 'default' } });
  });

  it('have the default of max_tokens with the line that decides: of the nearest level, else of the catalog entry', async () => {
    const messages = [{ role: 'user', content: 'Hi' }];
    const sourceOf = async (parts: AskParts) => {
      const { targets } = await explain(
        {
          catalog: CATALOG.replace('a-key-of-anthropic', 'a-key-of-anthropic\n    default_max_tokens: 500'),
          gateway: {
            own: "strategy: { mode: fallback }\ndefault_max_tokens: 900\ntargets:\n  - { provider: '@claude', override_params: { model: m } }\n",
          },
        },
        parts,
      );
      return targets[0]?.defaulted.map(({ value, source }) => `${value} ${reported(source)}`);
    };
    const body = { model: '@claude/claude-sonnet-4-5', messages };
    expect(await sourceOf({ config: 'own', json: { ...body, model: 'any' } })).toEqual(['900 gateway/own.yaml:2']);
    expect(await sourceOf({ json: body })).toEqual(['500 catalog.yaml:13']);
    expect(await sourceOf({ json: { ...body, max_tokens: 5 } })).toEqual([]);
    const { targets } = await ask({ json: body });
    expect(targets[0]?.defaulted.map(({ source }) => reported(source))).toEqual(['default']);
  });

  it('list the failures that fall through to the next one', async () => {
    const [first, second] = (await ask({ config: 'picky' })).targets;
    expect(first?.nextAfter).toEqual({ kinds: ['rate_limit', 'unsupported'], statusCodes: [418] });
    expect(second?.nextAfter).toEqual({ kinds: [], statusCodes: [] });
  });

  it('list them for a target that rejects the request, too', async () => {
    const [first, second] = (await ask({ path: '/v1/embeddings', config: 'able', json: { model: 'm', input: 'a' } }))
      .targets;
    expect([first?.refused?.code, first?.nextAfter.kinds]).toEqual([
      'unsupported_task',
      expect.arrayContaining(['unsupported', 'server_error']),
    ]);
    expect(second?.target).toBe('config.targets[1]');
  });

  it.each([
    ['when the key may not use it', { providers: ['@two'] }, 403, 'provider_not_allowed'],
    ['when the key may not use its model', { models: ['@one/other'] }, 403, 'model_not_allowed'],
  ])('are rejected %s', async (_, limits, status, code) => {
    const keys = { keys: [{ id: 'team', key: '${env:K:-gatehouse-test-key-0123456789}', ...limits }] };
    const { targets, answer } = await explain(
      { catalog: CATALOG, keys, gateway: GATEWAY },
      { json: { model: '@one/m' }, as: 'team' },
    );
    expect(targets).toHaveLength(1);
    expect(targets[0]).toMatchObject({ refused: { status, code }, provider: undefined });
    expect(answer).toMatchObject({ status, code });
  });

  it('contain no secret', async () => {
    const { targets, ...rest } = await ask({ config: 'chain' });
    const ours = targets.map(({ outbound: _, ...others }) => others);
    expect(JSON.stringify([ours, rest])).not.toContain('a-key-of-the-provider');
  });
});

describe('the health of a target', () => {
  const open = { state: 'open', retryAt: 6500.4, admits: false } as const;
  const at = { now: 1000, wall: 1e12 };

  it('is shown with the time until the next probe, and the target is skipped', async () => {
    const { targets, leftOut } = await ask({ config: 'chain', at, health: new Map([['config.targets[0]', open]]) });
    expect(order(targets)).toEqual(['targets[1] fallback']);
    expect(targets[0]?.health).toEqual({ state: 'closed', retryInMs: undefined, enforced: false });
    expect(leftOut).toMatchObject([{ target: 'config.targets[0]', name: 'first', reason: 'circuit_open' }]);
  });

  it('is shown for the last resort, which is tried anyway and listed once', async () => {
    const later = { ...open, retryAt: 9000 };
    const health = new Map([
      ['config.targets[0]', open],
      ['config.targets[1]', later],
    ]);
    const { targets, leftOut } = await ask({ config: 'chain', at, health });
    expect(order(targets)).toEqual(['targets[0] last_resort']);
    expect(targets[0]?.health).toEqual({ state: 'open', retryInMs: 5500, enforced: true });
    expect(leftOut.map(({ target, reason }) => [target, reason])).toEqual([['config.targets[1]', 'circuit_open']]);
  });

  it('is shown for a due probe', async () => {
    const health = new Map([['config.targets[0]', { state: 'half_open', retryAt: 900, admits: true } as const]]);
    const { targets } = await ask({ config: 'chain', at, health });
    expect(order(targets)).toEqual(['targets[0] probe', 'targets[1] fallback']);
    expect(targets[0]?.health).toEqual({ state: 'half_open', retryInMs: undefined, enforced: true });
  });

  it('never has a negative time until the next probe', async () => {
    const health = new Map([['config.targets[0]', { state: 'open', retryAt: 10, admits: true } as const]]);
    const [first] = (await ask({ config: 'chain', at, health })).targets;
    expect(first?.health.retryInMs).toBe(0);
  });
});
