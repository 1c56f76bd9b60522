import { describe, expect, it } from 'vitest';
import type { ChangeExplanation } from '../../explanation/explanation.ts';
import { explain, type AskParts, type SettingsText } from '../explain.testkit.ts';

const catalog = { providers: [{ slug: 'sim', provider: 'simulator' }] };

/** One line for each change: `max_tokens: 4096 → 512 ← gateway/prod.yaml:3:3 override_params.max_tokens`. */
async function changes(
  settings: Omit<SettingsText, 'catalog'>,
  parts: AskParts,
  target = 0,
): Promise<readonly string[]> {
  const { targets } = await explain({ catalog, ...settings }, parts);
  return targets[target]!.changes.map(line);
}

function line({ path, action, value, was, source }: ChangeExplanation): string {
  const values = [was, value].map((one) => (one === undefined ? '' : JSON.stringify(one)));
  return `${path} ${action}: ${values.join(' → ')} ← ${from(source)}`;
}

function from(source: ChangeExplanation['source']): string {
  if (source.kind === 'settings') return `${source.at.file}:${source.at.line}:${source.at.column} ${source.setting}`;
  if (source.kind === 'header') return source.name;
  if (source.kind === 'plugin') return source.plugin;
  return source.kind === 'gateway' ? source.what : source.path;
}

describe('a parameter of a config in the words of another API', () => {
  const one = `provider: "@sim"
override_params:
  model: steady
  reasoning_effort: low
  labels: { team: search }
  frequency_penalty: 0.5
`;

  it.each([
    ['/v1/chat/completions', { model: 'm', messages: [{ role: 'user', content: 'x' }] }],
    ['/v1/messages', { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'x' }] }],
    ['/v1/responses', { model: 'm', input: 'x' }],
    ['/v1beta/models/m:generateContent', { contents: [{ role: 'user', parts: [{ text: 'x' }] }] }],
  ])('has the line of its setting at the door %s', async (path, json) => {
    const lines = await changes({ gateway: { one } }, { config: 'one', path, json });
    for (const place of ['4:3 override_params.reasoning_effort', '6:3 override_params.frequency_penalty'])
      expect(
        lines.some((text) => text.endsWith(`configs/gateway/one.yaml:${place}`)),
        lines.join('\n'),
      ).toBe(true);
  });
});

describe('the changes of a body', () => {
  const prod = `provider: "@sim"
override_params:
  model: steady
  max_tokens: 512
  user: null
  response_format:
    type: json_object
default_params:
  temperature: 0.2
  top_p: 0.5
drop_params:
  - seed
  - metadata.secret_note
`;

  it('list each field, the client’s value, and the line of the setting', async () => {
    const json = {
      model: 'mine',
      max_tokens: 4096,
      user: 'u',
      temperature: 1,
      seed: 7,
      metadata: { secret_note: 'x', a: 'b' },
    };
    expect(await changes({ gateway: { prod } }, { config: 'prod', json })).toEqual([
      'top_p default:  → 0.5 ← configs/gateway/prod.yaml:10:3 default_params.top_p',
      'model set: "mine" → "steady" ← configs/gateway/prod.yaml:3:3 override_params.model',
      'max_tokens set: 4096 → 512 ← configs/gateway/prod.yaml:4:3 override_params.max_tokens',
      'user removed: "u" →  ← configs/gateway/prod.yaml:5:3 override_params.user',
      'response_format.type set:  → "json_object" ← configs/gateway/prod.yaml:7:5 override_params.response_format.type',
      'seed removed: 7 →  ← configs/gateway/prod.yaml:12:5 drop_params.0',
      'metadata.secret_note removed: "x" →  ← configs/gateway/prod.yaml:13:5 drop_params.1',
    ]);
  });

  it('name the line that deletes a field that a nearer one sets again', async () => {
    const prod = `override_params: { response_format: null }
targets:
  - provider: "@sim"
    override_params:
      response_format: { type: json_schema, json_schema: { name: ours } }
`;
    const theirs = { type: 'json_schema', json_schema: { name: 'theirs', strict: true } };
    expect(
      await changes({ gateway: { prod } }, { config: 'prod', json: { model: 'm', response_format: theirs } }),
    ).toEqual([
      `response_format removed: ${JSON.stringify(theirs)} →  ← configs/gateway/prod.yaml:1:20 override_params.response_format`,
      'response_format.type set: "json_schema" → "json_schema" ← configs/gateway/prod.yaml:5:26 targets.0.override_params.response_format.type',
      'response_format.json_schema.name set: "theirs" → "ours" ← configs/gateway/prod.yaml:5:60 targets.0.override_params.response_format.json_schema.name',
    ]);
  });

  it('omit values that were equal already, and deletions of absent fields', async () => {
    const json = {
      model: 'steady',
      max_tokens: 512,
      top_p: 1,
      temperature: 1,
      response_format: { type: 'json_object' },
    };
    expect(await changes({ gateway: { prod } }, { config: 'prod', json })).toEqual([]);
  });

  const nested = `provider: "@sim"
strategy: { mode: fallback }
override_params:
  model: outer
  metadata: { team: a, env: prod }
drop_params: [seed]
targets:
  - override_params:
      metadata: { team: b }
    drop_params: [user]
  - override_params: { model: inner }
    default_params: { top_p: 0.1 }
    drop_params: [seed]
`;

  it('name the nearest place that sets a leaf, target by target', async () => {
    const parts: AskParts = { config: 'nested', json: { model: 'm', seed: 1, user: 'u' } };
    expect(await changes({ gateway: { nested } }, parts)).toEqual([
      'model set: "m" → "outer" ← configs/gateway/nested.yaml:4:3 override_params.model',
      'metadata.env set:  → "prod" ← configs/gateway/nested.yaml:5:24 override_params.metadata.env',
      'metadata.team set:  → "b" ← configs/gateway/nested.yaml:9:19 targets.0.override_params.metadata.team',
      'seed removed: 1 →  ← configs/gateway/nested.yaml:6:15 drop_params.0',
      'user removed: "u" →  ← configs/gateway/nested.yaml:10:19 targets.0.drop_params.0',
    ]);
    expect(await changes({ gateway: { nested } }, parts, 1)).toEqual([
      'top_p default:  → 0.1 ← configs/gateway/nested.yaml:12:23 targets.1.default_params.top_p',
      'metadata.team set:  → "a" ← configs/gateway/nested.yaml:5:15 override_params.metadata.team',
      'metadata.env set:  → "prod" ← configs/gateway/nested.yaml:5:24 override_params.metadata.env',
      'model set: "m" → "inner" ← configs/gateway/nested.yaml:11:24 targets.1.override_params.model',
      'seed removed: 1 →  ← configs/gateway/nested.yaml:13:19 targets.1.drop_params.0',
    ]);
  });

  it('find a setting in Portkey’s spelling', async () => {
    const gateway = { old: 'provider: "@sim"\noverrideParams:\n  model: steady\n' };
    expect(await changes({ gateway }, { config: 'old', json: { model: 'm' } })).toEqual([
      'model set: "m" → "steady" ← configs/gateway/old.yaml:3:3 override_params.model',
    ]);
  });

  it('name the header of an inline config', async () => {
    const config = JSON.stringify({ provider: '@sim', override_params: { model: 'steady' }, drop_params: ['user'] });
    expect(await changes({}, { config, json: { model: 'm', user: 'u' } })).toEqual([
      'model set: "m" → "steady" ← x-gateway-config',
      'user removed: "u" →  ← x-gateway-config',
    ]);
  });

  it('include fields from the path', async () => {
    const path = '/v1/projects/p/locations/l/publishers/google/models/gemini-2.5-pro:countTokens';
    const gateway = { it: { provider: '@sim', override_params: { model: 'other' } } };
    const json = { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }], messages: undefined };
    expect(await changes({}, { path, json, headers: { 'x-gateway-provider': '@sim' } })).toEqual([
      'model set:  → "gemini-2.5-pro" ← the request\'s path',
    ]);
    expect(await changes({ gateway }, { path, json, config: 'it' })).toEqual([
      'model set:  → "other" ← configs/gateway/it.yaml:1:39 override_params.model',
    ]);
  });

  it('are none without a config', async () => {
    expect(await changes({}, { json: { model: '@sim/m' } })).toEqual([]);
  });
});
