import { describe, expect, it } from 'vitest';
import { effectWith, FILES, recordWith, withPair, type Files } from './effect.testkit.ts';

const prod = (replaced: string, by: string): Files => ({
  'gateway/prod.yaml': String(FILES['gateway/prod.yaml']).replace(replaced, by),
});
const catalog = (more: object): Files => ({ 'catalog.yaml': { ...(FILES['catalog.yaml'] as object), ...more } });
const balance = (weight: number): Files => ({
  'gateway/prod.yaml': `strategy: { mode: loadbalance }\ntargets:\n  - { provider: "@openai", override_params: { model: a }, weight: ${weight} }\n  - { provider: "@openai", override_params: { model: b } }\n`,
});

describe('the effect of a change on recorded requests', () => {
  it('groups them, with an example and the line that decides', async () => {
    const paid = recordWith({
      request_id: 'r-2',
      metadata: { tier: 'paid' },
      attempts: [
        { target: 'config.targets[0]', provider: 'claude', request_model: 'claude-sonnet-4-5', outcome: 'success' },
      ],
      conditions: [
        {
          at: 'config',
          held: 'conditions[0]',
          to: 'config.targets[0]',
          tests: [{ field: 'metadata.tier', found: 'paid' }],
        },
      ],
    });
    const { changes, done } = await effectWith(prod('tier: paid', 'tier: gold'), [
      recordWith(),
      paid,
      { ...paid, request_id: 'r-3' },
    ]);
    expect(done).toEqual({ same: 1, changed: 2, unknown: 0, reasons: [], cases: 2 });
    expect(changes).toEqual([
      {
        sample: 'r-2',
        count: 2,
        before: expect.objectContaining({
          to: '@claude/claude-sonnet-4-5',
          config: 'prod',
          place: { file: 'gateway/prod.yaml', line: 4, column: 7 },
        }),
        after: expect.objectContaining({
          to: '@openai/gpt-4o-mini',
          place: { file: 'gateway/prod.yaml', line: 6, column: 3 },
        }),
        fields: [],
      },
    ]);
  });

  it.each<[string, Files, object, string]>([
    [
      'a new condition on a header',
      prod('{ metadata.tier: paid }', '{ headers.x-team: a }'),
      {},
      'a condition compares `headers.x-team`, which the record does not have',
    ],
    [
      'a new condition on a text',
      prod('{ metadata.tier: paid }', '{ params.messages.0.content: a }'),
      {},
      'a condition compares `params.messages.0.content`',
    ],
    [
      'a field that the caller may send',
      prod('gpt-4o-mini }', 'gpt-4o-mini, max_tokens: 5 }'),
      {},
      '`max_tokens`: settings change it',
    ],
    [
      'a default that the caller may not need',
      prod('gpt-4o-mini } }', 'gpt-4o-mini }, default_params: { temperature: 1 } }'),
      {},
      '`temperature`: settings change it',
    ],
    ['a new draw', balance(3), {}, 'a load balance draws among 75 % config.targets[0], 25 % config.targets[1]'],
    ['a prompt', prod('paid', 'gold'), { prompt: { id: 'p', version: 1 } }, 'it used a prompt'],
    [
      'a config of its own',
      prod('paid', 'gold'),
      { config: { id: 'inline', hash: 'x', by: 'inline' } },
      'it brought its own config',
    ],
    ['a record of an earlier version', prod('paid', 'gold'), { model: undefined }, 'of an earlier version'],
    ['no key', prod('paid', 'gold'), { key_id: undefined }, 'no key of the gateway sent it'],
    [
      'a key that is not in the settings',
      prod('paid', 'gold'),
      { key_id: 'gone' },
      'There is no key with the id "gone".',
    ],
    ['a limit', prod('paid', 'gold'), { limited_by: 'key:requests' }, 'a limit or a budget refused it'],
    ['a cut path', prod('paid', 'gold'), { path: `/${'a'.repeat(256)}…` }, 'its path is not whole'],
    ['an unknown operation', prod('paid', 'gold'), { operation: 'future' }, 'this build has no operation future'],
    [
      'attempts that are left out',
      prod('paid', 'gold'),
      { metadata: { tier: 'a' }, left_out: { metadata: 2, attempts: 1 } },
      'not all its attempts are in the record',
    ],
  ])('does not guess: %s', async (_, changed, more, reason) => {
    const { changes, done } = await effectWith(changed, [recordWith(more)]);
    expect(changes).toEqual([]);
    expect(done).toMatchObject({ changed: 0, unknown: 1, reasons: [{ count: 1, sample: 'r-1' }] });
    expect(done.reasons[0]!.reason).toContain(reason);
  });

  it('is none where no changed file concerns the request, whatever the record lacks', async () => {
    const other = { 'gateway/other.yaml': 'provider: "@openai"\n' };
    expect((await effectWith(other, [recordWith()])).done).toMatchObject({ same: 1, unknown: 0 });
    expect((await effectWith({}, [recordWith({ key_id: undefined })])).done).toMatchObject({ same: 1, unknown: 0 });
  });

  it('replays what each target answered', async () => {
    const files = {
      'gateway/prod.yaml':
        'strategy: { mode: fallback }\ntargets:\n  - { provider: "@openai", override_params: { model: gpt-4o-mini } }\n  - { provider: "@claude", override_params: { model: claude-sonnet-4-5 } }\n',
    };
    const failed = recordWith({
      attempts: [
        {
          provider: 'openai',
          request_model: 'gpt-4o-mini',
          failure: { code: 'overloaded', kinds: ['overloaded'], status: 503 },
        },
        { provider: 'claude', request_model: 'claude-sonnet-4-5' },
      ],
    });
    const { changes } = await effectWith(files, [failed]);
    // Before, a condition sent it to the small model alone.
    expect(changes).toMatchObject([
      { before: { to: '@openai/gpt-4o-mini' }, after: { to: '@openai/gpt-4o-mini, then @claude/claude-sonnet-4-5' } },
    ]);
  });

  it('does not take the way of a request that these settings would not have sent where it went', async () => {
    const hash = await withPair({}, ({ settings }) => Promise.resolve(settings.before.hash));
    const elsewhere = { settings_hash: hash, attempts: [{ provider: 'claude', request_model: 'claude-sonnet-4-5' }] };
    const { done } = await effectWith(prod('paid', 'gold'), [recordWith(elsewhere)]);
    expect(done).toMatchObject({ unknown: 1, reasons: [{ reason: expect.stringContaining('its way depends on') }] });
  });

  it('holds an unchanged condition to be as recorded, whatever it compares', async () => {
    const text = {
      'gateway/prod.yaml': String(FILES['gateway/prod.yaml']).replace(
        'metadata.tier: paid',
        'params.messages.0.content: { $regex: Hi }',
      ),
    };
    const base = { ...FILES, ...text };
    const hash = await withPair({}, ({ settings }) => Promise.resolve(settings.before.hash), base);
    const held = recordWith({
      settings_hash: hash,
      attempts: [{ provider: 'claude', request_model: 'claude-sonnet-4-5' }],
      conditions: [{ at: 'config', held: 'conditions[0]', to: 'config.targets[0]' }],
    });
    const changed = { 'gateway/prod.yaml': text['gateway/prod.yaml'].replace('claude-sonnet-4-5', 'claude-opus-4-5') };
    const { changes } = await effectWith(changed, [held], { base });
    expect(changes).toMatchObject([
      { before: { to: '@claude/claude-sonnet-4-5' }, after: { to: '@claude/claude-opus-4-5' } },
    ]);
  });

  it('counts what is not tried in time', async () => {
    const { done } = await effectWith(prod('paid', 'gold'), [recordWith()], { limitMs: 0 });
    expect(done).toMatchObject({ unknown: 1, cases: 0, reasons: [{ reason: 'not tried within 0 s' }] });
  });

  it('has no secret', async () => {
    const secret = 'sk-canary-0123456789abcdef';
    const changed = prod('gpt-4o-mini }', `gpt-4o-mini, user: ${secret} }`);
    const known = recordWith({
      conditions: [
        {
          at: 'config',
          held: 'default',
          to: 'config.targets[1]',
          tests: [
            { field: 'params.user', found: 'u' },
            { field: 'metadata.tier', found: null },
          ],
        },
      ],
    });
    const { changes } = await effectWith(changed, [known]);
    expect(changes).toMatchObject([{ fields: [{ path: 'user', before: 'u', after: '[secret]' }] }]);
  });
});

describe('the effect of a change on requests made of the settings', () => {
  it('has one for each config, key, and alias or model', async () => {
    const { done } = await effectWith({});
    // No config and `prod`, one key, one alias.
    expect(done).toEqual({ same: 2, changed: 0, unknown: 0, reasons: [], cases: 2 });
  });

  it('shows another target of an alias, and a key that may no longer use it', async () => {
    const { changes } = await effectWith({
      ...catalog({ aliases: { fast: { target: '@openai/gpt-4.1' } } }),
      'keys.yaml': { keys: [{ id: 'app', key: '${env:APP_KEY}' }] },
    });
    expect(changes.map(({ sample, before, after }) => [sample, before.to, after.to])).toEqual([
      ['key app, no config named, model fast', '@openai/gpt-4o-mini', '@openai/gpt-4.1'],
    ]);
  });

  it('compares the parts of a load balance', async () => {
    const { changes } = await effectWith(balance(3));
    expect(changes).toMatchObject([{ count: 2, after: { to: '75 % @openai/a, 25 % @openai/b' } }]);
  });

  it('shows fields of the sent body that differ, with their line', async () => {
    const { changes } = await effectWith(prod('gpt-4o-mini }', 'gpt-4o-mini, max_tokens: 5 }'));
    expect(changes).toMatchObject([
      {
        count: 2,
        before: { to: '@openai/gpt-4o-mini' },
        after: { to: '@openai/gpt-4o-mini' },
        fields: [{ path: 'max_tokens', after: 5, place: { file: 'gateway/prod.yaml', line: 9, column: 80 } }],
      },
    ]);
  });

  it.each<[string, object, object]>([
    ['is disabled', { disabled: true }, { changed: 2, unknown: 0 }],
    ['has expired', { expires_at: '2020-01-01T00:00:00Z' }, { changed: 2, unknown: 0 }],
    ['is for other networks', { networks: ['10.0.0.0/8'] }, { changed: 0, unknown: 2 }],
    ['has another secret', { key: '${env:OTHER_KEY}' }, { changed: 0, unknown: 2 }],
    ['has another contact', { contact: 'ann@example.com' }, { changed: 0, unknown: 0 }],
  ])('knows a key that %s', async (_, more, expected) => {
    const key = { id: 'app', key: '${env:APP_KEY}', default_config: 'prod', ...more };
    const { changes, done } = await effectWith({ 'keys.yaml': { keys: [key] } });
    expect(done).toMatchObject(expected);
    for (const { after } of changes) expect(after.to).toMatch(/^refused: /);
  });

  it('shows a request that the settings refuse', async () => {
    const { changes } = await effectWith({
      'keys.yaml': { keys: [{ id: 'app', key: '${env:APP_KEY}', default_config: 'prod', providers: ['@claude'] }] },
    });
    expect(changes).toMatchObject([
      { count: 2, after: { to: 'refused: model_not_allowed', place: { file: 'keys.yaml', line: 1 } } },
    ]);
  });
});
