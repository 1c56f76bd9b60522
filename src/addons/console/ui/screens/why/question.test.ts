import { describe, expect, it } from 'vitest';
import type { ShownExplanation, ShownRequest } from '../../api/shapes.ts';
import { changed, NO_CHANGES, parseHeaders, questionOf, wayOf } from './question.ts';

const request: ShownRequest = {
  request_id: 'r',
  time: '',
  state: 'complete',
  duration_ms: 1,
  key_id: 'search',
  path: '/v1/chat/completions',
  method: 'POST',
  config: { id: 'production', hash: '' },
  metadata: { tier: 'gold' },
  skipped: [],
  attempts: [{ target: 't', why: 'first', outcome: 'success', provider: 'sim', request_model: 'm', tries: [] }],
};

describe('a question of what would be', () => {
  it('begins as the request was, without its texts', () =>
    expect(questionOf({ request })).toEqual({
      method: 'POST',
      path: '/v1/chat/completions',
      key: 'search',
      headers: { 'x-gateway-metadata': '{"tier":"gold"}', 'x-gateway-config': 'production' },
      body: { model: '@sim/m', messages: [{ role: 'user', content: 'text' }] },
    }));

  it('has what the person changed, and nothing for an empty field', () => {
    const base = questionOf({ request });
    expect(changed(base, NO_CHANGES)).toEqual(base);
    expect(
      changed(base, {
        key: 'batch',
        model: 'x',
        headers: 'X-Gateway-Metadata: {}\nnonsense',
        at: '2026-11-28T10:00:00Z',
        draw: '0.2, 0.9',
        down: ['config.targets[0]'],
        file: { path: 'gateway/a.yaml', text: 'a' },
      }),
    ).toMatchObject({
      key: 'batch',
      headers: { 'x-gateway-metadata': '{}' },
      body: { model: 'x' },
      at: '2026-11-28T10:00:00.000Z',
      draws: [0.2, 0.9],
      health: { 'config.targets[0]': 'open' },
      settings: { 'gateway/a.yaml': 'a' },
    });
  });

  it('reads headers, a line each', () =>
    expect(parseHeaders('A: b: c\n\n x-y :z ')).toEqual({ a: 'b: c', 'x-y': 'z' }));
});

it('an explanation is a few lines with their places', () => {
  const explanation: ShownExplanation = {
    settings: { folder: '/c', hash: '' },
    request: { id: '', method: 'POST', path: '/' },
    config: { id: 'production', found: 'key', source: { kind: 'settings', at: { file: '/c/keys.yaml', line: 5 } } },
    targets: [
      {
        number: 0,
        target: 'config.targets[0]',
        name: 'primary',
        why: 'first',
        provider: { slug: 's', model: 'm' },
        at: { file: '/c/gateway/p.yaml', line: 9 },
        health: { state: 'open', enforced: true },
      },
    ],
    leftOut: [{ target: 'config.targets[1]', reason: 'it is down' }],
  };
  expect(wayOf(explanation)).toEqual([
    { text: 'config production', place: 'keys.yaml:5' },
    { text: 'primary → @s/m (health open)', place: 'gateway/p.yaml:9' },
    { text: 'not config.targets[1]: it is down', place: '' },
  ]);
});
