import { describe, expect, it } from 'vitest';
import type { ShownExplanation, ShownRequest } from '../../api/shapes.ts';
import { flatTests, testText } from '../../parts/tests.tsx';
import { placesOf, stepsOf } from './path.ts';

const REQUEST: ShownRequest = {
  request_id: 'r',
  time: '2026-11-28T18:43:59Z',
  state: 'complete',
  status: 200,
  duration_ms: 5,
  key_id: 'search',
  config: { id: 'production', hash: 'h' },
  conditions: [
    {
      at: 'config',
      held: 'conditions[0]',
      to: 'config.targets[0]',
      tests: [{ field: 'metadata.tier', operator: '$eq', wanted: 'gold', found: 'gold', holds: true }],
    },
  ],
  attempts: [
    {
      target: 'config.targets[0].targets[0]',
      target_name: 'primary',
      request_model: 'm',
      why: 'first',
      outcome: 'error',
      failure: { upstream_kind: 'overloaded', upstream_message: 'Later.' },
      tries: [
        { started_ms: 0, duration_ms: 1, outcome: 'error', status: 503 },
        { started_ms: 2, duration_ms: 1, outcome: 'error', status: 503 },
      ],
    },
    {
      target: 'config.targets[0].targets[1]',
      request_model: 'n',
      why: 'fallback',
      outcome: 'success',
      answered: true,
      tries: [{ started_ms: 3, duration_ms: 1, outcome: 'success', status: 200 }],
    },
  ],
  skipped: [{ target: 'config.targets[0].targets[2]', reason: 'circuit_open', after: 1 }],
};

const at = (line: number) => ({ file: 'gateway/production.yaml', line, column: 1 });
const PLACES = {
  config: at(1),
  'config.conditions[0]': at(6),
  'config.targets[0].targets[0]': at(13),
  'config.targets[0].targets[1]': at(17),
};

describe('the way of a request', () => {
  it('is told from its record and the places of its config, kept or not', () => {
    const steps = stepsOf(REQUEST, { places: PLACES });
    expect(steps.map(({ title, place, chip, decides }) => [title, place?.line, chip, decides])).toEqual([
      ['key search', undefined, undefined, false],
      ['config production', 1, undefined, false],
      ['condition holds', 6, undefined, false],
      ['primary → m', 13, '503', false],
      ['config.targets[0].targets[2]', undefined, 'skipped', false],
      ['config.targets[0].targets[1] → n', 17, '200', true],
    ]);
    expect(steps[3]?.lines).toEqual(['first of the fallback', '2 tries, overloaded: Later.']);
    expect(steps[4]?.lines).toEqual(['skipped: its breaker is open']);
    expect(steps[5]?.lines).toEqual(['the target before it failed']);
  });

  it('has caller, choice of the config and health where the request was kept', () => {
    const explanation: ShownExplanation = {
      settings: { folder: '/etc/gatehouse', hash: 'h' },
      request: { id: 'r', method: 'POST', path: '/v1/chat/completions' },
      caller: { key: 'search', found: 'named', at: { file: '/etc/gatehouse/keys.yaml', line: 2 } },
      config: {
        id: 'production',
        found: 'key',
        source: { kind: 'settings', at: { file: '/etc/gatehouse/keys.yaml', line: 5 } },
      },
      rules: [
        {
          conditional: 'config',
          to: 'config.targets[0]',
          otherwise: false,
          conditions: [
            {
              index: 0,
              holds: true,
              tests: [],
              at: { file: '/etc/gatehouse/gateway/production.yaml', line: 6 },
            },
          ],
        },
      ],
      targets: [
        {
          number: 0,
          target: 'config.targets[0].targets[0]',
          why: 'first',
          at: { file: '/etc/gatehouse/gateway/production.yaml', line: 13 },
          health: { state: 'open', enforced: false },
        },
      ],
    };
    const places = placesOf(explanation);
    expect(places).toEqual({
      config: { file: 'keys.yaml', line: 5 },
      'config.conditions[0]': { file: 'gateway/production.yaml', line: 6 },
      'config.targets[0].targets[0]': { file: 'gateway/production.yaml', line: 13 },
    });
    const [key, config, , primary] = stepsOf(REQUEST, { places, explanation });
    expect([key?.place, key?.lines, config?.lines, primary?.lines[0]]).toEqual([
      { file: 'keys.yaml', line: 2 },
      ['found by the key that the client sent'],
      ['the default of this key'],
      'first of the fallback · health open, not enforced',
    ]);
  });

  it('ends at the gateway where no target was tried', () => {
    const { config: _, conditions: __, ...rest } = REQUEST;
    const steps = stepsOf(
      {
        ...rest,
        attempts: [],
        skipped: [],
        state: 'failed',
        status: 429,
        error: { code: 'rate_limit' },
        limited_by: 'team:requests',
      },
      { places: {} },
    );
    expect(steps.at(-1)).toMatchObject({
      title: 'the gateway answered rate_limit',
      lines: ['the limit team:requests refused it'],
      decides: true,
    });
  });
});

describe('a condition', () => {
  it('is written with the value that the request had', () => {
    expect(testText({ field: 'metadata.tier', operator: '$eq', wanted: 'gold' })).toBe(
      'metadata.tier = absent wanted $eq "gold"',
    );
    expect(
      flatTests([{ field: '$and', inner: [{ field: 'a', operator: '$gt', wanted: 1, found: 2 }] }]).map(
        ({ depth, test }) => [depth, testText(test)],
      ),
    ).toEqual([
      [0, '$and'],
      [1, 'a = 2 wanted $gt 1'],
    ]);
  });
});
