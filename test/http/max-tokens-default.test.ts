import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../support/gateway.ts';
import { anthropicReply, geminiReply, json } from '../support/upstream.ts';
import { CLAUDE, startHouse, user, type House } from './details.testkit.ts';

/** Requests without an answer limit for Claude, which demands one (docs/protocols/requests.md#default-max-tokens). */

let house: House;
beforeAll(async () => {
  house = await startHouse({
    gateway: {
      fixed: { provider: '@claude', default_max_tokens: 500 },
      refusing: { provider: '@claude', default_max_tokens: 'refuse' },
      mixed: {
        strategy: { mode: 'fallback' },
        default_max_tokens: 'refuse',
        targets: [
          { provider: '@gemini', override_params: { model: 'gemini-2.5-flash' } },
          {
            provider: '@claude',
            default_max_tokens: 'model',
            override_params: { model: 'claude-opus-5' },
          },
        ],
      },
    },
  });
});
afterAll(() => house.close());

// `chat` sends a limit of its own unless the body says otherwise.
const body = { model: CLAUDE, max_tokens: undefined, messages: [user('hi')] };
const config = (name: string) => ({ 'x-gateway-config': name });
const defaulted = (headers: Headers) => headers.get('x-gateway-defaulted-params');

/** The access line of a reply. */
async function line(headers: Headers): Promise<unknown> {
  const id = headers.get('x-gateway-request-id');
  const found = () => house.gateway.logs.find((one) => one['request_id'] === id);
  await until(() => found() !== undefined, 'the access line is there');
  return found();
}

describe('a chat request without an answer limit', () => {
  it('gets the limit of the Claude model and a header that names it, and loses nothing', async () => {
    house.answers(anthropicReply('hi'));
    const { status, headers } = await house.chat(body, { 'x-gateway-strict-params': 'true' });
    expect(status).toBe(200);
    expect(house.seen().json['max_tokens']).toBe(64_000);
    expect(defaulted(headers)).toBe('max_tokens=64000');
    expect(headers.get('x-gateway-dropped-params')).toBeNull();
    const logged = await line(headers);
    expect(logged).toMatchObject({ defaulted: ['max_tokens:64000'] });
    expect(logged).not.toHaveProperty('losses');
  });

  it('keeps the limit of its caller', async () => {
    house.answers(anthropicReply('hi'));
    const { headers } = await house.chat({ ...body, max_completion_tokens: 7 });
    expect(house.seen().json['max_tokens']).toBe(7);
    expect(defaulted(headers)).toBeNull();
  });

  it('gets the number of its gateway config', async () => {
    house.answers(anthropicReply('hi'));
    const { headers } = await house.chat({ ...body, model: 'claude-x' }, config('fixed'));
    expect(house.seen().json['max_tokens']).toBe(500);
    expect(defaulted(headers)).toBe('max_tokens=500');
  });

  it('is refused where the config refuses it, and sends nothing', async () => {
    const before = house.upstream.seen.length;
    const { status, body: reply } = await house.chat({ ...body, model: 'claude-x' }, config('refusing'));
    expect(status).toBe(400);
    expect(reply['error']).toMatchObject({ code: 'missing_required_parameter', param: 'max_tokens' });
    expect(house.upstream.seen).toHaveLength(before);
  });

  it('falls back from Gemini, which needs none, to Claude', async () => {
    house.plays((request, res) =>
      request.url.includes('messages') ? json(res, anthropicReply('hi')) : json(res, { error: { code: 503 } }, 503),
    );
    const { status, headers } = await house.chat({ ...body, model: 'any' }, config('mixed'));
    expect(status).toBe(200);
    expect(house.seen().json['max_tokens']).toBe(128_000);
    expect(defaulted(headers)).toBe('max_tokens=128000');
  });

  it('gets no limit at a model that needs none', async () => {
    house.answers(geminiReply('hi'));
    const { headers } = await house.chat({ ...body, model: '@gemini/gemini-2.5-flash' });
    expect(house.seen().json).not.toHaveProperty('generationConfig.maxOutputTokens');
    expect(defaulted(headers)).toBeNull();
  });
});
