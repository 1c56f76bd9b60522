import { describe, expect, it } from 'vitest';
import { explain } from './explain.testkit.ts';

const catalog = { providers: [{ slug: 'sim', provider: 'simulator' }] };
const KEY = { 'x-gateway-api-key': 'gatehouse-test-key-0123456789' };

describe('explain reads the head of a request as the data listener does', () => {
  it.each([
    ['HEAD', '/v1/models', 'models.list', undefined],
    ['GET', '/v1/models', 'models.list', undefined],
    ['GET', '/v1/chat/completions', undefined, 'method_not_allowed'],
    ['POST', '/v1/v1/chat/completions', undefined, 'not_found'],
  ])('%s %s', async (method, path, operation, code) => {
    const { request, answer } = await explain({ catalog }, { method, path, headers: KEY });
    expect([request.operation, answer?.code]).toEqual([operation, code]);
  });

  it('and suggests the nearest path', async () => {
    const { answer } = await explain({ catalog }, { path: '/v1/v1/chat/completions', headers: KEY });
    expect(answer?.message).toContain('Did you mean /v1/chat/completions?');
  });
});
